import Foundation
import OAuthSandbox
import SQLoopback
import Testing

/// The text of a sandbox's error.
@Suite struct SandboxErrorTests {
  @Test(
    arguments: [
      (.portInUse(8989), "port 8989 is in use; choose another one"),
      (.system(13), "the loopback address could not be used: Permission denied"),
      (
        .notLoopback("https://app.example/cb?code=C4N4RY&state=C4N4RY"),
        "the visitor was sent to https://app.example/cb, which is not an http server on this computer"
      ),
      (
        .unexpectedAnswer("the server's answer has no end"), "the server's answer has no end"
      ),
      (
        SandboxError(.malformedAnswer), "a server's answer was malformed or incomplete"
      ),
      (
        .endedOnPage(heading: "Sign in", detail: "Wrong password."),
        "the sign-in ended on the page \"Sign in\": Wrong password."
      ),
    ] as [(SandboxError, String)])
  func `the localized description is a sentence without a code`(
    error: SandboxError, sentence: String
  ) {
    #expect((error as any Error).localizedDescription == sentence)
  }
}
