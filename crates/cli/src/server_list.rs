//! `dbdyno server ls`, and what one release is, as documents.
//!
//! ```text
//!   downloaded          releases of this home
//!   in the background   servers, with what they are to each other
//!   of starts that …    directories of servers that have no record
//!   images              filled data directories
//!   available           what each source has, or each package
//! ```

use dbdyno_document::{Document, Element, LabelledItem};
use dbdyno_model::SourceKind;
use dbdyno_sandbox::{
    BackgroundServer, BackgroundState, Home, Image, Offer, Release, Symbols, all_offers,
    all_packers, installed_releases,
};

use crate::failure::Failure;

/// Columns of the word before what is said of one release.
const FACT_WIDTH: usize = 8;
/// Columns of names of releases and servers, and of those of images.
const NAME_WIDTH: usize = 24;
/// See [`NAME_WIDTH`].
const IMAGE_WIDTH: usize = 32;

/// Which releases can be had, in how many words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfferExtent {
    /// The versions of each source.
    Versions,
    /// Each package with its sizes.
    Packages,
}

/// What is here and what can be had.
///
/// # Errors
/// Files whose size cannot be read.
pub(crate) fn server_list(home: &Home, extent: OfferExtent) -> Result<Document, Failure> {
    let releases =
        installed_releases(home).iter().map(downloaded).collect::<Result<Vec<_>, Failure>>()?;
    let servers = BackgroundServer::all_in(home).into_iter().map(|server| {
        let state = LabelledItem::new(state_and_role(&server));
        state.with_label(server.name, NAME_WIDTH).with_label(server.tree, NAME_WIDTH)
    });
    let unfinished = dbdyno_sandbox::unfinished_starts(home).into_iter().map(|name| {
        let remove = format!("`dbdyno server rm {name}` removes it");
        LabelledItem::new(remove).with_label(name, NAME_WIDTH)
    });
    let images = Image::all_in(home);
    let images_mb: u64 = images.iter().map(|image| image.mb).sum();
    let title_of_images =
        format!("images ({images_mb} MB; `dbdyno server images` says what is in them)");
    let images = images.iter().map(|image| {
        LabelledItem::new(format!("{:>6} MB", image.mb)).with_label(&image.name, IMAGE_WIDTH)
    });
    let nothing = "nothing yet; `compare` downloads what it needs, `server get` does it now";
    let mut document = Document::default();
    if releases.is_empty() {
        document.push(vec![Element::Title("downloaded".into()), Element::Sentence(nothing.into())]);
    }
    for (title, items) in [
        ("downloaded", releases),
        ("in the background", servers.collect()),
        ("of starts that go on, or were ended", unfinished.collect()),
        (title_of_images.as_str(), images.collect()),
    ] {
        if !items.is_empty() {
            document.push(vec![Element::Title(title.into()), Element::Items(items)]);
        }
    }
    match extent {
        OfferExtent::Versions => offers_by_source(&mut document),
        OfferExtent::Packages => each_offer(&mut document),
    }
    Ok(document)
}

fn downloaded(release: &Release) -> Result<LabelledItem, Failure> {
    let from = match release.source {
        SourceKind::Files => release.origin.as_str(),
        _ => release.origin.split(": ").next().unwrap_or_default(),
    };
    let item = LabelledItem::new(from).with_label(release.name(), NAME_WIDTH);
    let item = item.with_label(format!("{:>5} MB", release.disk_mb()?), 9);
    Ok(item.with_label(format!("symbols {}", symbols(release)), 16))
}

/// How every product can be had: the word for the source, and what is to be written.
const ANYWHERE: [(&str, &str); 2] = [
    ("files", "`dbdyno server get SERVER --from PATH`: the maker's archive or folder"),
    ("system", "SERVER@system: what this machine has installed"),
];

/// What a source has of a product, or of any, in columns of these widths.
fn offer(product: &str, width: usize, source: &str, text: String) -> LabelledItem {
    LabelledItem::new(text).with_label(product, width).with_label(source, 7)
}

/// The versions that each source has, a line for each source of a product.
fn offers_by_source(document: &mut Document) {
    const PRODUCT_WIDTH: usize = 9;
    let mut sources: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for Offer { product, version, source, .. } in all_offers() {
        let (product, source) = (product.name(), source.name());
        match sources.iter_mut().find(|(of, from, _)| (*of, *from) == (product, source)) {
            Some((_, _, versions)) if versions.contains(&version) => {}
            Some((_, _, versions)) => versions.push(version),
            None => sources.push((product, source, vec![version])),
        }
    }
    let sources = sources.into_iter().map(|(product, source, versions)| {
        offer(product, PRODUCT_WIDTH, source, versions.join(" "))
    });
    let anywhere =
        ANYWHERE.map(|(source, how)| offer("any", PRODUCT_WIDTH, source, how.to_owned()));
    let items = sources.chain(anywhere).collect();
    document.push(vec![Element::Title("available".into()), Element::Items(items)]);
    let rest =
        LabelledItem::new("dbdyno server ls --all: packages, who made them, and their sizes");
    let server =
        "A server is PRODUCT:VERSION or PRODUCT:VERSION@SOURCE, such as mysql:8.0.33@maven.";
    document.push(vec![
        Element::Sentence(server.into()),
        Element::Items(vec![rest.with_label("rest", FACT_WIDTH)]),
    ]);
}

/// Each package, with its sizes.
fn each_offer(document: &mut Document) {
    const SERVER_WIDTH: usize = 18;
    let packages = all_offers().into_iter().map(|one| {
        let server = format!("{}:{}", one.product.name(), one.version);
        let item = offer(&server, SERVER_WIDTH, one.source.name(), one.package);
        item.with_label(format!("{:>4} MB", one.download_mb), 7)
            .with_label(format!("{:>4} MB", one.disk_mb), 8)
    });
    let anywhere = ANYWHERE.map(|(source, how)| offer("any", SERVER_WIDTH, source, how.to_owned()));
    let makers = all_packers().iter().map(|packer| {
        let maker = LabelledItem::new(format!("{}: {}", packer.name, packer.what));
        LabelledItem::new(packer.package).with_detail(maker)
    });
    for (title, items) in [
        ("available (to download, on disk)", packages.chain(anywhere).collect()),
        (
            "who made the packages that are not Debian's (none is the maker of the server)",
            makers.collect(),
        ),
    ] {
        document.push(vec![Element::Title(title.into()), Element::Items(items)]);
    }
}

/// What a release is, where it comes from and where it lies.
///
/// # Errors
/// Files whose size cannot be read.
pub(crate) fn release_document(release: &Release) -> Result<Document, Failure> {
    let version = format!("{} {}", release.product.name(), release.version);
    let (folder, mb) = (release.dir.display(), release.disk_mb()?);
    let folder = format!("{folder} ({mb} MB, symbols: {})", symbols(release));
    let facts = [("version", version), ("from", release.origin.clone()), ("in", folder)];
    let sums = release.sums.iter().map(|(file, sum)| ("sha256", format!("{sum} {file}")));
    let items = facts.into_iter().chain(sums);
    let items = items.map(|(word, fact)| LabelledItem::new(fact).with_label(word, FACT_WIDTH));
    let title = Element::Title(release.name().into());
    Ok(Document::from(vec![vec![title, Element::Items(items.collect())]]))
}

fn symbols(release: &Release) -> &'static str {
    release.read_symbols().map_or("unknown", Symbols::name)
}

/// What a server does, and what it is to others.
pub(crate) fn state_and_role(server: &BackgroundServer) -> String {
    let state = state(server);
    match (&server.membership, server.member_role()) {
        (Some(membership), Some(role)) if membership.of != server.name => {
            format!("{state}; {} of {}", role.name(), membership.of)
        }
        (Some(membership), Some(role)) => {
            format!("{state}; {} of {}", role.name(), membership.shape)
        }
        _ => state,
    }
}

/// Whether a server runs.
fn state(server: &BackgroundServer) -> String {
    match server.state() {
        BackgroundState::Running(pid) => format!("runs, pid {pid}, port {}", server.port),
        BackgroundState::Stopped => "stopped".to_owned(),
        BackgroundState::Gone => format!(
            "ended by itself or with the machine; its data are here: server start {}",
            server.name
        ),
    }
}
