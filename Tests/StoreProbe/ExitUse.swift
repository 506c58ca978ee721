import Foundation
import SQCrypto
import SequencingOAuth

/// A use of OpenSSL while the process exits, as late as possible.
enum ExitUse {
  /// Registers an exit handler that uses OpenSSL.
  ///
  /// Call this before OpenSSL is first used: exit handlers run in reverse order, so OpenSSL's own
  /// handlers then run before this one.
  static func register() {
    atexit(useOpenSSL)
  }
}

private func useOpenSSL() {
  let digest = Digest.sha256("abc").base64EncodedString()
  FileHandle.standardOutput.write(Data("at the exit: \(digest)\n".utf8))
}
