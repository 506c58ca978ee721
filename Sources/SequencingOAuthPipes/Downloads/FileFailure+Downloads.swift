import SQFiles
import SQLibC

extension FileFailure {
  /// The error if a file exists at the destination and the download must not replace it.
  static let exists = FileFailure(
    "a file with this name exists; choose another name, or let the download replace it",
    code: EEXIST)
  /// The error if a file of the user has the path of the partial file or of its record.
  static let foreign = FileFailure(
    "a file with this name exists and is not part of a download; it was not changed; move "
      + "it, or choose another destination", code: EEXIST)
}
