import Foundation
import SQCrypto
import SequencingOAuth

/// A use of OpenSSL in the last moment of the process, when it exits.
enum ExitUse {
  /// Called before OpenSSL is first used: what that registers for the exit comes later, and so runs
  /// before this.
  static func register() {
    atexit(useOpenSSL)
  }
}

private func useOpenSSL() {
  let digest = Digest.sha256("abc").base64EncodedString()
  FileHandle.standardOutput.write(Data("at the exit: \(digest)\n".utf8))
}
