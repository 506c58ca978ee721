import Testing

/// A call that the compiler must reject, because it would be harmful when it runs.
@Suite(.timeLimit(.minutes(5))) struct RequiredProviderTests {
  /// With Sequencing.com as a default, it would receive the users and the secret of a forgetful
  /// app.
  @Test func `a configuration without a provider does not compile, but the pod's own call does`()
    async throws
  {
    let refused = ["scope: \"demo\"", "scopes: [\"demo\"]"].map { scope in
      Sample(
        document: "\(scope.prefix(6)).md", line: 1,
        code: """
          import SequencingOAuth
          let client = try ClientConfiguration(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", \(scope))
          """)
    }
    let withReceiver = Sample(
      document: "receiver.md", line: 1,
      code: """
        import SequencingOAuth
        SQOAuth.shared.registerApplicationParameters(
          clientID: "app", redirectURI: "http://127.0.0.1:80/callback", redirectReceiver: .app)
        """)
    let pods = Sample(
      document: "Pod.md", line: 1,
      code: """
        import SequencingOAuth
        SQOAuth.shared.registerApplicationParameters(
          clientID: "app", redirectURI: "http://127.0.0.1/callback", scope: "demo")
        """)
    let complaints = try await Compiler().compile(refused + [withReceiver, pods])
    #expect(complaints.count == 3)
    for complaint in complaints {
      #expect(complaint.contains("missing argument for parameter 'provider'"), "\(complaint)")
    }
  }
}
