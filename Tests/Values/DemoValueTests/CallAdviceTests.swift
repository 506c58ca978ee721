import SequencingOAuth
import Testing

@testable import sq_demo

/// The hints that `sq-demo call` shows if an API rejects the request.
@Suite struct `The advice of a call` {
  private func failure(_ error: SQOAuthError, signIn: String?) throws -> Failure {
    let options = try SignInArguments(Arguments([], options: []), orAccount: true)
    return ResourceScreens("https://api.example.com/x?y", options, Console())
      .failure(error, signIn: signIn, login: "sq-demo login --account NAME")
  }

  @Test
  func `the hint for insufficient_scope names the account's login command and a wider --scope`()
    throws
  {
    let command = "sq-demo login --account https://api.example.com --issuer https://id.example.com"
    let error = SQOAuthError(.insufficientScope, "more")
    let hint = try #require(try failure(error, signIn: command).hint)
    #expect(hint.contains("'\(command)' and a wider --scope"))
  }

  @Test func `the hint for insufficient_user_authentication suggests a login and no scope`() throws
  {
    let error = SQOAuthError(.insufficientUserAuthentication, "stronger")
    let hint = try #require(try failure(error, signIn: "sq-demo login").hint)
    #expect(!hint.contains("scope") && hint.contains("Log in"))
  }
}
