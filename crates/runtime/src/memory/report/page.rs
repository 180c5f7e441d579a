//! A snapshot as a page for a browser, which needs no network: the page carries the snapshot as JSON, and a
//! script that draws it.

use super::snapshot_json;
use crate::memory::Snapshot;

/// The page without a snapshot, and the word that stands for it.
const PAGE: &str = include_str!("page.html");
const PLACE: &str = ">SNAPSHOT<";

/// The page that shows the snapshot.
pub(crate) fn snapshot_page(snapshot: &Snapshot) -> String {
    // In a script element `<` could end the script, or begin a comment; in JSON it stands in texts only.
    let json = snapshot_json(snapshot).replace('<', "\\u003c");
    PAGE.replacen(PLACE, &format!(">{json}<"), 1)
}

#[cfg(test)]
mod tests {
    use testkit_json::Json;

    use super::super::golden;
    use super::*;

    /// What lies between the tags of the element with the snapshot.
    fn data(page: &str) -> &str {
        let (_, rest) = page.split_once("id=\"snapshot\">").unwrap();
        rest.split_once("</script>").unwrap().0
    }

    #[test]
    fn the_page_carries_the_whole_snapshot() {
        for snapshot in [golden::snapshot(), golden::everything()] {
            let page = snapshot_page(&snapshot);
            assert_eq!(Json::read(data(&page)), Json::read(&snapshot_json(&snapshot)));
            assert!(!page.contains(PLACE) && page.ends_with("</html>\n"));
        }
    }

    #[test]
    fn texts_of_the_snapshot_do_not_end_the_script() {
        let mut snapshot = golden::snapshot();
        snapshot.settings.text = "</script><script>alert(1)</script><!--".to_owned();
        let page = snapshot_page(&snapshot);
        assert_eq!(Json::read(data(&page)), Json::read(&snapshot_json(&snapshot)));
        assert_eq!(page.matches("<script").count(), PAGE.matches("<script").count());
        assert!(!data(&page).contains('<'));
    }

    #[test]
    fn the_page_loads_nothing() {
        assert!(PAGE.contains("default-src 'none'"));
        for way in
            ["http:", "https:", "//cdn", "src=\"", "href", "@import", "url(", "fetch(", "import("]
        {
            assert!(!PAGE.contains(way), "{way}");
        }
    }

    /// Every key that the script reads is one that snapshots have.
    #[test]
    fn the_script_reads_keys_of_snapshots() {
        let json = snapshot_json(&golden::everything());
        let keys = [
            "segments",
            "device_traces",
            "allocator_settings",
            "PYTORCH_CUDA_ALLOC_CONF",
            "device",
            "address",
            "total_size",
            "stream",
            "segment_type",
            "segment_pool_id",
            "is_expandable",
            "blocks",
            "size",
            "requested_size",
            "state",
            "action",
            "addr",
            "device_free",
            "time_us",
        ];
        for key in keys {
            assert!(json.contains(&format!("\"{key}\":")), "snapshots have no {key}");
            assert!(PAGE.contains(&format!(".{key}")), "the page does not read {key}");
        }
        for state in ["active_allocated", "active_pending_free", "inactive"] {
            assert!(
                json.contains(&format!("\"{state}\"")) && PAGE.contains(&format!(".{state} {{"))
            );
        }
        for action in golden::ACTIONS {
            let known = [
                "alloc",
                "free_completed",
                "segment_alloc",
                "segment_map",
                "segment_free",
                "segment_unmap",
            ];
            let counts = known.contains(&action.name());
            assert_eq!(
                PAGE.contains(&format!(" {}: [", action.name())),
                counts,
                "{}",
                action.name()
            );
        }
    }
}
