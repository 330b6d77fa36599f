//! Servers that tests share: one for each release, started by whoever asks first, and a database
//! for each who asks. For tests that set nothing of a server and count nothing of all of it.
//!
//! ```text
//!   test ── Guest::on(release) ──▶ keeper ── starts it, once
//!        ◀── URL of a database ──┘        └─ holds it until the process ends
//! ```
//!
//! A server dies with the thread that started it, and every test has a thread of its own: so one
//! thread starts them all. What they leave in the home is removed by whoever starts a server there
//! next.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use dbdyno_model::Product;
use dbdyno_wire::{Client, Endpoint};

use crate::common::Home;
use crate::servers::{Access, Running};

/// A database on a shared server, for one test.
pub(crate) struct Guest {
    access: Access,
    database: String,
}

impl Guest {
    /// An empty database on the server of this release.
    pub(crate) fn on(home: &Home, product: Product, version: &'static str) -> Guest {
        let (answer, answered) = channel();
        let asked = Asked { product, version, home: home.path().to_owned(), answer };
        KEEPER.lock().unwrap_or_else(PoisonError::into_inner).send(asked).unwrap();
        let (number, access) = answered.recv().expect("the keeper says above what it met");
        let database = format!("guest_{number}");
        let mut client = access.connect(&access.endpoint.database);
        client.run(&format!("CREATE DATABASE {database}")).unwrap();
        client.close();
        Guest { access, database }
    }

    /// What the command is given to reach it.
    pub(crate) fn url(&self) -> String {
        let endpoint = &self.access.endpoint;
        let account = format!("{}:{}", endpoint.user, endpoint.password.expose());
        self.access.socket(&account, &self.database)
    }

    /// By TCP.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint { database: self.database.clone(), ..self.access.endpoint.clone() }
    }

    pub(crate) fn connect(&self) -> Box<dyn Client> {
        self.access.connect(&self.database)
    }

    pub(crate) fn ask(&self, sql: &str) -> String {
        self.access.ask(&self.database, sql)
    }

    /// How many tables it has.
    pub(crate) fn tables(&self) -> String {
        self.access.tables(&self.database)
    }
}

/// A server that somebody wants.
struct Asked {
    product: Product,
    version: &'static str,
    home: PathBuf,
    /// Takes a number that nobody else has, and how the server is reached.
    answer: Sender<(usize, Access)>,
}

static KEEPER: LazyLock<Mutex<Sender<Asked>>> = LazyLock::new(|| {
    let (ask, asked) = channel();
    thread::spawn(move || keep(&asked));
    Mutex::new(ask)
});

/// Starts servers and holds them.
fn keep(asked: &Receiver<Asked>) {
    let mut servers: BTreeMap<(Product, &str), Running> = BTreeMap::new();
    for (number, Asked { product, version, home, answer }) in asked.iter().enumerate() {
        let start = || Running::start(&Home::at(home), product, version);
        let server = servers.entry((product, version)).or_insert_with(start);
        // Who asked may have failed meanwhile.
        let _ = answer.send((number, server.access()));
    }
}
