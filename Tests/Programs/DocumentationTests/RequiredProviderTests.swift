import Testing

/// A call that the compiler must reject, because it would be harmful when it runs.
@Suite(.timeLimit(.minutes(5))) struct RequiredProviderTests {
  /// If Sequencing.com were the default provider, it would receive the users and the client secret
  /// of an app that forgot to name its provider.
  @Test
  func `a configuration without a provider does not compile, but the Sequencing pod's call does`()
    async throws
  {
    let refused = [
      "let client = try ClientConfiguration", "SQOAuth.shared.registerApplicationParameters",
    ].map { call in
      Sample(
        document: "\(call.suffix(10)).md", line: 1,
        code: """
          import SequencingOAuth
          \(call)(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", scope: "demo")
          """)
    }
    let pods = Sample(
      document: "Pod.md", line: 1,
      code: """
        import SequencingOAuth
        @available(*, deprecated) func register() {
          SQOAuth.shared.registrateApplicationParametersCliendID(
            "app", ClientSecret: "s", RedirectUri: "http://127.0.0.1/callback", Scope: "demo")
        }
        """)
    let complaints = try await Compiler().compile(refused + [pods])
    #expect(complaints.count == 2)
    for complaint in complaints {
      #expect(complaint.contains("missing argument for parameter 'provider'"), "\(complaint)")
    }
  }
}
