//! Opens a library that stands beside the driver, and fills the table of its functions.
//!
//! A library is opened at the first call that needs it and kept; a failure is not remembered, since
//! a later attempt may find what is missing. A release that the process has open already goes
//! before newer ones: handles are returned to callers, which call the release that they were built
//! with. Then the system's loader is asked, and the toolkit's folders are tried.
//!
//! The tables are as the driver's (`api`): codes come as plain integers, `required` functions are
//! checked when the library is opened, and an `optional` one that is missing makes only its own
//! calls fail, with `NotSupported`.

use std::ffi::c_void;
use std::ptr::NonNull;

use sconce_base::config::Config;
use sconce_base::dynlib::Library;
use sconce_base::error::{Error, Result, Status};

use super::loader::open_library;

/// The default folder of toolkits.
const TOOLKIT: &str = "/usr/local/cuda";
/// Where a toolkit keeps its libraries, below its own folder.
const FOLDERS: [&str; 2] = ["lib64", "targets/x86_64-linux/lib"];

/// A library's name to people, its files, and the variable by which another file is chosen.
pub(crate) struct LibraryName {
    /// What messages call it.
    pub(crate) name: &'static str,
    /// Its sonames, newest first.
    pub(crate) files: &'static [&'static str],
    /// The variable that names a file.
    pub(crate) variable: &'static str,
}

/// What the environment says about where libraries are.
#[derive(Clone, Default)]
pub(crate) struct LibraryPaths {
    /// `SCONCE_LIBCUBLAS`.
    pub(crate) cublas: Option<String>,
    /// `SCONCE_LIBCUDNN`.
    pub(crate) cudnn: Option<String>,
    /// `SCONCE_LIBCUFFT`.
    pub(crate) cufft: Option<String>,
    /// `SCONCE_LIBNVRTC`.
    pub(crate) nvrtc: Option<String>,
    /// `SCONCE_LIBNCCL`.
    pub(crate) nccl: Option<String>,
    /// `CUDA_HOME` or `CUDA_PATH`.
    cuda_home: Option<String>,
}

impl LibraryPaths {
    pub(crate) fn of(config: &Config) -> LibraryPaths {
        LibraryPaths {
            cublas: config.libcublas.clone(),
            cudnn: config.libcudnn.clone(),
            cufft: config.libcufft.clone(),
            nvrtc: config.libnvrtc.clone(),
            nccl: config.libnccl.clone(),
            cuda_home: config.cuda_home.clone(),
        }
    }

    /// Opens a library, `path` and no other if given.
    pub(crate) fn open(&self, library: &LibraryName, path: Option<&str>) -> Result<OpenLibrary> {
        if path.is_none()
            && let Some(open) = already_open(library)
        {
            return Ok(open);
        }
        let candidates = self.candidates(library);
        let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
        match open_library(library.name, path, &candidates) {
            Ok((handle, file)) => Ok(OpenLibrary { handle, name: library.name, file }),
            Err(error) => Err(Error::new(
                error.status(),
                format!("{error}; {} may name the file to open", library.variable),
            )),
        }
    }

    /// The folders of toolkits: the one that the environment names, and the usual one.
    pub(crate) fn toolkits(&self) -> impl Iterator<Item = &str> {
        let home = self.cuda_home.as_deref().map(|home| home.trim_end_matches('/'));
        let usual = Some(TOOLKIT).filter(|usual| home != Some(*usual));
        home.into_iter().chain(usual)
    }

    /// The names as they are, then in the toolkit's folders.
    fn candidates(&self, library: &LibraryName) -> Vec<String> {
        let mut candidates: Vec<String> = library.files.iter().map(|f| (*f).to_owned()).collect();
        for root in self.toolkits() {
            for folder in FOLDERS {
                candidates
                    .extend(library.files.iter().map(|file| format!("{root}/{folder}/{file}")));
            }
        }
        candidates
    }
}

fn already_open(library: &LibraryName) -> Option<OpenLibrary> {
    library.files.iter().find_map(|file| {
        let handle = Library::already_open(file)?;
        Some(OpenLibrary { handle, name: library.name, file: (*file).to_owned() })
    })
}

/// A library that was found.
pub(crate) struct OpenLibrary {
    handle: Library,
    /// What messages call it.
    pub(crate) name: &'static str,
    /// The file that was opened.
    file: String,
}

impl OpenLibrary {
    /// The address of a function, if the library has it. `symbol` ends with a NUL.
    pub(crate) fn symbol(&self, symbol: &str) -> Option<NonNull<c_void>> {
        let symbol = std::ffi::CStr::from_bytes_with_nul(symbol.as_bytes()).ok()?;
        self.handle.symbol(symbol)
    }

    /// The error of a library that lacks a function it must have.
    #[cold]
    #[inline(never)]
    pub(crate) fn missing_at_load(&self, symbol: &str) -> Error {
        Error::new(
            Status::LibraryNotFound,
            format!(
                "{} lacks the symbol {symbol}; a newer release of {} has it",
                self.file, self.name
            ),
        )
    }
}

/// The error of a call to a function that the library need not have, and has not.
#[cold]
#[inline(never)]
pub(crate) fn missing_at_call(library: &str, symbol: &str) -> Error {
    Error::not_supported(format!("the installed {library} lacks {symbol}; a newer release has it"))
}

/// Declares the table of a library's functions: `load` fills it from an [`OpenLibrary`], and a
/// method of each function's name returns the function, or `NotSupported` if the library lacks it.
macro_rules! library_functions {
    (
        $(#[$doc:meta])* $table:ident;
        $( $need:ident $name:ident($($ty:ty),* $(,)?) -> $answer:ty; )*
    ) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "fields and methods carry the library's own names")]
        pub(crate) struct $table {
            library: &'static str,
            $( $name: Option<unsafe extern "C" fn($($ty),*) -> $answer>, )*
        }

        #[allow(non_snake_case, reason = "fields and methods carry the library's own names")]
        impl $table {
            /// Fills the table; fails on the first required function that is missing.
            pub(crate) fn load(
                library: &$crate::libraries::library::OpenLibrary,
            ) -> sconce_base::error::Result<$table> {
                use $crate::libraries::api::Need;
                Ok($table {
                    library: library.name,
                    $( $name: {
                        let address = library.symbol(concat!(stringify!($name), "\0"));
                        if address.is_none() && Need::$need == Need::required {
                            return Err(library.missing_at_load(stringify!($name)));
                        }
                        // SAFETY: the library exports this function under this name with this
                        // prototype (checked against the headers that belong to CUDA 13.0).
                        address.map(|address| unsafe {
                            std::mem::transmute::<
                                std::ptr::NonNull<std::ffi::c_void>,
                                unsafe extern "C" fn($($ty),*) -> $answer,
                            >(address)
                        })
                    }, )*
                })
            }

            $(
                #[inline]
                pub(crate) fn $name(
                    &self,
                ) -> sconce_base::error::Result<unsafe extern "C" fn($($ty),*) -> $answer> {
                    match self.$name {
                        Some(function) => Ok(function),
                        None => Err($crate::libraries::library::missing_at_call(
                            self.library,
                            stringify!($name),
                        )),
                    }
                }
            )*
        }
    };
}

pub(crate) use library_functions;

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: LibraryName =
        LibraryName { name: "cuX", files: &["libx.so.2", "libx.so.1"], variable: "SCONCE_LIBX" };

    fn candidates(cuda_home: Option<&str>) -> Vec<String> {
        let cuda_home = cuda_home.map(str::to_owned);
        LibraryPaths { cuda_home, ..LibraryPaths::default() }.candidates(&NAME)
    }

    #[test]
    fn the_systems_loader_comes_first_and_the_usual_folder_last() {
        let usual = [
            "libx.so.2",
            "libx.so.1",
            "/usr/local/cuda/lib64/libx.so.2",
            "/usr/local/cuda/lib64/libx.so.1",
            "/usr/local/cuda/targets/x86_64-linux/lib/libx.so.2",
            "/usr/local/cuda/targets/x86_64-linux/lib/libx.so.1",
        ];
        assert_eq!(candidates(None), usual);
        assert_eq!(candidates(Some("/usr/local/cuda/")), usual, "not twice");
        let own = candidates(Some("/opt/cuda"));
        assert_eq!(own[..2], usual[..2]);
        assert_eq!(own[2], "/opt/cuda/lib64/libx.so.2");
        assert_eq!(own[6..], usual[2..]);
    }

    #[test]
    fn a_library_that_is_nowhere_names_every_place_and_the_variable() {
        let paths = LibraryPaths { cuda_home: Some("/opt/none".into()), ..Default::default() };
        let error = paths.open(&NAME, None).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        for part in
            candidates(Some("/opt/none")).iter().map(String::as_str).chain(["cuX", "SCONCE_LIBX"])
        {
            assert!(error.contains(part), "{part}: {error}");
        }
        let error = paths.open(&NAME, Some("/opt/own.so")).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains("/opt/own.so") && !error.contains("libx.so.2"), "{error}");
    }

    #[test]
    fn a_release_that_is_open_goes_before_newer_ones_but_not_before_a_given_path() {
        // The first comes with the system's C library, but nothing has opened it.
        let name = LibraryName { files: &["libthread_db.so.1", "libc.so.6"], ..NAME };
        let open = |path| LibraryPaths::default().open(&name, path).map(|library| library.file);
        assert_eq!(open(None).as_deref(), Ok("libc.so.6"));
        assert_eq!(open(Some("libm.so.6")).as_deref(), Ok("libm.so.6"));
    }

    #[test]
    fn a_toolkits_folders_are_searched() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let some_library = maps.split_whitespace().find(|word| word.ends_with("/libc.so.6"));
        let place = std::env::temp_dir().join(format!("sconce-toolkit-{}", std::process::id()));
        for (folder, file) in FOLDERS.into_iter().zip(["libx.so.1", "libx.so.2"]) {
            let home = place.join(file);
            assert!(std::fs::create_dir_all(home.join(folder)).is_ok());
            let link = home.join(folder).join(file);
            assert!(std::os::unix::fs::symlink(some_library.unwrap_or_default(), &link).is_ok());
            let cuda_home = home.to_str().map(str::to_owned);
            let found = LibraryPaths { cuda_home, ..Default::default() }.open(&NAME, None);
            assert_eq!(found.ok().map(|library| library.file).as_deref(), link.to_str());
        }
        assert!(std::fs::remove_dir_all(&place).is_ok());
    }
}
