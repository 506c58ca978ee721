import Foundation
import OAuthSandbox
import Testing

/// What a sandbox's error says to the developer whose test it ends.
@Suite struct SandboxErrorTests {
  @Test(
    arguments: [
      (.portInUse(8989), "another program listens on port 8989"),
      (.system(13), "the system does not give the sandbox what it needs: Permission denied"),
      (
        .notLoopback("https://app.example/cb?code=C4N4RY&state=C4N4RY"),
        "the visitor opens http on a loopback address only, and not https://app.example/cb"
      ),
      (
        .unexpectedAnswer("an empty page"),
        "the visitor did not understand an answer: an empty page"
      ),
    ] as [(SandboxError, String)])
  func `its localized description is a sentence without a code`(
    error: SandboxError, sentence: String
  ) {
    #expect((error as any Error).localizedDescription == sentence)
  }
}
