import SQFiles

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension FileFailure {
  /// Why a download that replaces nothing does not use a path.
  static let exists = FileFailure(
    "there is a file with this name; choose another one, or let the download replace it",
    code: EEXIST)
  /// Why a download does not touch a file in the place of its partial file or of the record.
  static let foreign = FileFailure(
    "a file that no download has left is in the way, and stays as it is; move it, or choose "
      + "another destination", code: EEXIST)
}
