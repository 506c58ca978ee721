import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `token`: prints the access token, for scripts.
struct Token: Command {
  static let name = "token"
  static let summary = "Print the access token alone on one line."
  static let details = """
    It is the token of the account that a login before has kept. Where there is none it
    signs in first, at the provider that the options name, or without them at a sandbox
    inside the program.
    """
  static let options = SignInOptions.options + [.store]

  private let signIn: SignInOptions
  private let store: StoreOption?

  init(_ arguments: Arguments) throws(Failure) {
    signIn = try SignInOptions(arguments)
    store = try StoreOption(arguments[.store])
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    let (store, _) = try StoreOption.open(store)
    if let account = try await StoredAccount.load(from: store) {
      return try console.result(try account.usableToken(for: signIn, at: Date()).accessToken)
    }
    // The default store is for accounts that last; the built-in sandbox's ends with this run.
    let keepsAccount = signIn.configuration != nil || self.store != nil
    let token = try await CommandLineSignIn(
      options: signIn, store: keepsAccount ? store : MemoryTokenStore()
    ).run(console)
    try console.result(token.accessToken)
  }
}
