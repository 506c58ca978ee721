import SQFiles

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension FileFailure {
  /// The path of a download that must not replace a file has a file already.
  static let exists = FileFailure(
    "there is a file with this name; choose another one, or let the download replace it",
    code: EEXIST)
  /// A file that no download wrote is at the path of a download's partial file or of its record.
  static let foreign = FileFailure(
    "a file that no download has left is in the way, and stays as it is; move it, or choose "
      + "another destination", code: EEXIST)
}
