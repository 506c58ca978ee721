import SQBasics
import SQLibC

/// A check for the open files and the thread that a call to the keyring needs.
///
/// GLib ends the process if the system gives it no descriptor or no thread. So the check comes before
/// the call, and a save without room fails with an error, after which the store tries again. Another
/// thread of the app may still take the last descriptor during the call, so more must be free than
/// the call needs.
enum KeyringRoom {
  /// The number of files that must be free.
  ///
  /// The first call of a process needs most: about ten.
  private static let files = 16

  /// Throws if the system would not give the process the files and the thread of a call.
  static func check() throws(KeyringFailure) {
    var opened: [Int32] = []
    defer { opened.forEach { close($0) } }
    while opened.count < files {
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else {
        // Without the device, only the call itself can show whether there is room.
        guard errno == EMFILE || errno == ENFILE else { break }
        throw .noRoom("files: \(CLibrary.meaning(of: errno))")
      }
      opened.append(file)
    }
    guard Threads.canStart() else { throw .noRoom("threads: \(CLibrary.meaning(of: EAGAIN))") }
  }
}
