//! The allocator of these tests, which counts: each thread for itself, as mock servers and other
//! tests live in this process too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// What this thread has allocated, and allocated anew, so far.
    pub(crate) static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// The largest that it asked for at once, in bytes.
    pub(crate) static LARGEST_SEEN: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn note(size: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    LARGEST_SEEN.set(LARGEST_SEEN.get().max(size));
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches cells that need
// neither initialisation nor destruction.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
