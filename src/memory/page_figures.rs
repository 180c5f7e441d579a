//! What the pages of a device are doing.

use std::mem::{offset_of, size_of};

use sconce_runtime::memory::{self, PageFigures};

use crate::{guard, sconce_status};

/// Statistics of the pages of a device, under `policy:pages`. Mappings are counted separately from
/// memory: a page that is mapped at several addresses is reserved once.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_memory_page_figures {
    /// `sizeof(sconce_memory_page_figures)`, set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Number of pages taken from the driver.
    pub pages: u64,
    /// Bytes of these pages.
    pub page_bytes: u64,
    /// Mappings of pages, in use or kept for later.
    pub mappings: u64,
    /// Bytes of mappings beyond the first of each page. They are addresses, not memory: reserved
    /// bytes exclude them.
    pub alias_bytes: u64,
    /// Number of mappings made of pages that were mapped already.
    pub aliases_made: u64,
    /// Number of requests that an earlier mapping served without a driver call.
    pub alias_hits: u64,
    /// Bytes of sleeping pages: their addresses are kept, and their memory has gone back to the
    /// driver.
    pub sleeping_bytes: u64,
}

grows!(
    sconce_memory_page_figures, "SCONCE_MEMORY_PAGE_FIGURES_INIT", first version: 64 bytes,
    reserved, pages, page_bytes, mappings, alias_bytes, aliases_made, alias_hits, sleeping_bytes,
);

const _: () = {
    assert!(size_of::<sconce_memory_page_figures>() == 64);
    assert!(offset_of!(sconce_memory_page_figures, pages) == 8);
};

impl From<PageFigures> for sconce_memory_page_figures {
    fn from(figures: PageFigures) -> Self {
        let PageFigures {
            pages,
            page_bytes,
            mappings,
            sleeping_bytes,
            alias_bytes,
            aliases_made,
            alias_hits,
        } = figures;
        sconce_memory_page_figures {
            struct_size: size_of::<Self>() as u32,
            reserved: 0,
            pages,
            page_bytes,
            mappings,
            alias_bytes,
            aliases_made,
            alias_hits,
            sleeping_bytes,
        }
    }
}

/// Reports the statistics of a device's pages: how many there are, at how many addresses they are
/// mapped, and how often an earlier mapping served a request. All are 0 if no memory
/// consists of pages.
///
/// - `out_figures`: receives the statistics; begin with `SCONCE_MEMORY_PAGE_FIGURES_INIT`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_page_figures(
    device: i32,
    out_figures: *mut sconce_memory_page_figures,
) -> sconce_status {
    guard(|| {
        let out_figures = out_struct!(out_figures);
        out_figures.write(memory::page_figures(device)?.into());
        Ok(())
    })
}
