import SQFiles
import SQFoundation
import SequencingOAuth

extension WebRequestBody {
  /// The maximum number of bytes that are read into memory.
  static let mostInMemory = 64 << 20

  /// Creates a body from a path.
  ///
  /// A file is read while it is sent; a pipe or a device is read at once.
  init(contentOf path: String) throws(FileReading.ReadError) {
    guard let content = try FileReading.stream(at: path, atMost: Self.mostInMemory) else {
      self = .file(URL(unexpandedPath: path))
      return
    }
    self = .bytes(Data(content))
  }
}
