import SQBasics
import SequencingOAuth

/// The command `whoami`: says who is signed in.
struct WhoAmI: Command {
  static let name = "whoami"
  static let summary = "Say who is signed in."
  static let details = """
    The command shows what the provider says about the user of an account that 'sq-demo
    login' has kept. The user is known by an ID token, whose signature was verified at the
    sign-in; the rest comes from the provider's UserInfo endpoint. If the provider cannot be
    asked now, the command shows what the ID token says.

    A provider tells who the user is if the scope of the sign-in has 'openid'. 'sq-demo
    login' asks for it where the provider supports OpenID Connect, unless --scope says
    otherwise.

    With --json it prints one object: account, issuer, subject, name and claims, an object
    with every claim as the provider sent it.
    """
  static let options = [.json] + AccountOptions.optionsOrSandbox

  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    try await account.withAccount(console) { account throws(Failure) in
      guard let user = await SignedInUser.find(account.oauth, isFresh: true) else {
        throw await noIdentity(account)
      }
      if let problem = user.problem {
        if problem.code == .cancelled { throw Failure(problem) }
        // The stored ID token names the former user, but no user is signed in any more.
        if !account.oauth.module.hasAccessToken { throw Failure(problem) }
        let failure = Failure(problem)
        console.warn(
          "UserInfo could not be read from the provider: \(failure.code.onScreen): "
            + failure.advised)
      }
      try console.result(printsJSON ? try user.json(account: account.id) : user.text)
    }
  }

  /// Returns the failure for an account with an unknown user, with a hint.
  private func noIdentity(_ account: Account) async -> Failure {
    let reason: SQOAuthError?
    do throws(SQOAuthError) {
      _ = try await account.oauth.idToken()
      reason = nil
    } catch {
      reason = error
    }
    if let reason, reason.code == .cancelled { return Failure(reason) }
    let why = reason.map { ": \($0.message)" } ?? ""
    let failure = Failure(
      "no_identity", "the provider did not say who the user is\(why)", status: .notAuthorized)
    if let hint = reason.flatMap(Failure.option) { return failure.withHint(hint) }
    if let subject = account.oauth.module.configuration?.expectedSubject {
      return failure.withHint(
        "AT Protocol has no ID tokens. The account belongs to \(subject.onScreen), as the server "
          + "confirmed at the sign-in.")
    }
    guard reason?.code != .openIDUnsupported else {
      return failure.withHint(
        "Sign in again with the provider's --issuer and --jwks, and --authorize and --token.")
    }
    let scopes = account.oauth.currentToken?.scopes ?? []
    let scope = (["openid"] + (scopes.isEmpty ? ["profile"] : scopes.filter { $0 != "openid" }))
      .joined(separator: " ")
    return failure.withHint(
      "Sign in again and ask for it: '\(account.widerSignInCommand) --scope "
        + "\(ShellWords.quote(scope.onScreen))'.")
  }
}
