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
    let reason = SystemRoom.shortage(files: files)
    guard reason != 0 else { return }
    throw .noRoom("\(reason == EAGAIN ? "threads" : "files"): \(CLibrary.meaning(of: reason))")
  }
}
