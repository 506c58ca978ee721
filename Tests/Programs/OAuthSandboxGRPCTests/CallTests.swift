import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

/// The methods of the sandbox's gRPC server, called by the SDK.
@Suite(.timeLimit(.minutes(1))) struct CallTests {
  @Test(
    arguments: [
      ([0x20, 1, 0x28, 1], Answer(user: "bob", scope: "profile demo")),
      ([0x20, 1], Answer(user: "bob")), ([0x28, 2], Answer(scope: "profile demo")),
      ([0x28, 1, 0x28, 0], Answer()), ([], Answer()),
      // A field with a wrong type, and fields that the server does not know.
      ([0x22, 1, 1, 0x08, 5, 0x32, 2, 0x61, 0x62, 0x39, 1, 2, 3, 4, 5, 6, 7, 8], Answer()),
    ] as [([UInt8], Answer)])
  func `a unary call returns the requested facts about its token`(
    request: [UInt8], answer: Answer
  ) async throws {
    try await Fixture.running { fixture in
      let tokens = fixture.sandbox.issueTokens(for: "bob", scopes: ["profile", "demo"])
      let channel = try fixture.channel(.accessToken(tokens.accessToken))
      let call = try channel.call(Method.unaryCall, request: Data(request))
      #expect(try await Answer(call.response()) == answer)
      #expect(call.responseHeaders?["grpc-accept-encoding"] == nil, "a protocol field is visible")
    }
  }

  @Test func `the user of a client credentials token is the client`() async throws {
    try await Fixture.running { fixture in
      let configuration = try ClientConfiguration(
        clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
        provider: .issuer(fixture.sandbox.issuer.absoluteString))
      let module = AuthorizationModule(configuration: configuration)
      _ = try await module.requestAccessTokenAsClient(scope: "demo")
      let channel = try fixture.channel(.account(module))
      let response = try await channel.call(Method.unaryCall, request: everything).response()
      let answer = try Answer(response)
      #expect(answer.user == SandboxClient.service.id && answer.scope == "demo", "\(answer)")
    }
  }

  @Test func `a stream has one message with the user for each requested response`() async throws {
    try await Fixture.running { fixture in
      let sizes = [0, 1, 300, 1 << 20, 5]
      let call = try fixture.authorizedChannel().call(
        Method.stream, request: streamRequest(sizes.map { ($0, $0 == 1 ? 2000 : 0) }),
        kind: .serverStreaming)
      var answers: [Answer] = []
      for try await message in call.messages { answers.append(try Answer(message)) }
      #expect(answers.map { $0.payload?.count ?? 0 } == sizes)
      #expect(answers.allSatisfy { $0.user == "alice" })
      #expect(answers.allSatisfy { $0.scope == "profile demo files offline_access" })
      #expect(answers.allSatisfy { $0.payload?.allSatisfy { $0 == 0 } ?? true })
      #expect(call.status == .ok)
    }
  }

  @Test func `a stream can have no message or thousands`() async throws {
    try await Fixture.running { fixture in
      let channel = try fixture.authorizedChannel()
      for count in [0, 5000] {
        let call = try channel.call(
          Method.stream, request: streamRequest(Array(repeating: (0, 0), count: count)),
          kind: .serverStreaming)
        var messages = 0
        for try await _ in call.messages { messages += 1 }
        #expect(messages == count)
      }
    }
  }

  @Test func `many simultaneous calls are all answered`() async throws {
    try await Fixture.running { fixture in
      let channel = try fixture.authorizedChannel()
      try await withThrowingTaskGroup(of: Answer.self) { group in
        for index in 0..<300 {
          group.addTask {
            guard index.isMultiple(of: 3) else {
              let call = try channel.call(Method.unaryCall, request: everything)
              return try await Answer(call.response())
            }
            let call = try channel.call(
              Method.stream, request: streamRequest([(10, 100), (10, 100)]), kind: .serverStreaming)
            var answers: [Answer] = []
            for try await message in call.messages { answers.append(try Answer(message)) }
            #expect(answers.count == 2)
            return try #require(answers.first)
          }
        }
        for try await answer in group { #expect(answer.user == "alice") }
      }
      #expect(fixture.server.calls.count == 300)
    }
  }

  @Test func `the server sends a stream no faster than the client reads it`() async throws {
    try await Fixture.running { fixture in
      let responses = Array(repeating: (size: 100_000, microseconds: 0), count: 1000)
      let call = try fixture.authorizedChannel().call(
        Method.stream, request: streamRequest(responses), kind: .serverStreaming)
      var messages = call.messages.makeAsyncIterator()
      _ = try await messages.next()
      // The server checks the token before each message. If it had already sent all of them, it
      // would not notice the revocation.
      fixture.sandbox.revokeEverything()
      var count = 1
      try await rpcFailure(.unauthenticated) {
        while try await messages.next() != nil { count += 1 }
      }
      #expect(count < 1000)
    }
  }

  @Test func `leaving a stream ends it at the server`() async throws {
    try await Fixture.running { fixture in
      let call = try fixture.authorizedChannel().call(
        Method.stream, request: streamRequest([(0, 0), (0, 2_000_000_000)]), kind: .serverStreaming)
      for try await _ in call.messages { break }
      // With an open call, the server would wait an hour, which is longer than the test may take.
      await fixture.server.stop(grace: .seconds(3600))
    }
  }

  @Test(arguments: [
    (Method.unaryCall + "s", "grpc.testing.TestService has the methods UnaryCall and "),
    ("/grpc.testing.Other/UnaryCall", "this server has the service grpc.testing.TestService only"),
  ])
  func `an unknown method is reported as unimplemented`(method: String, message: String)
    async throws
  {
    try await Fixture.running { fixture in
      let channel = try fixture.authorizedChannel()
      for kind in [RPCCall.Kind.unary, .bidirectional] {
        let call = try channel.call(method, kind: kind)
        let error = try await rpcFailure(.unimplemented) {
          if kind == .unary { return try await call.response() }
          // The server rejects a stream at once, although the client could send more.
          for try await _ in call.messages {}
          return Data()
        }
        #expect(error.message.hasPrefix(message) && error.isFromServer)
      }
    }
  }

  @Test func `a request for too much data or a negative amount is rejected`() async throws {
    try await Fixture.running { fixture in
      let channel = try fixture.authorizedChannel()
      for response in [(1 << 20 + 1, 0), (-1, 0), (0, -1)] {
        let call = try channel.call(
          Method.stream, request: streamRequest([(0, 0), response]), kind: .serverStreaming)
        var messages = 0
        try await rpcFailure(.invalidArgument) {
          for try await _ in call.messages { messages += 1 }
        }
        #expect(messages == 0)
      }
    }
  }

  @Test func `a message of exactly 4 MiB is accepted, and a larger message is rejected`()
    async throws
  {
    try await Fixture.running { fixture in
      var options = RPCOptions()
      options.maximumRequestBytes = 8 << 20
      let channel = try fixture.authorizedChannel(options: options)
      // Returns a message of `count` bytes: one unknown field, with its key and its length.
      func request(_ count: Int) -> Data {
        Data([0x0A] + varint(count - 5)) + Data(count: count - 5)
      }
      let largest = try channel.call(Method.unaryCall, request: request(4 << 20) + Data())
      #expect(try await largest.response() == Data())
      for count in [4 << 20 + 1, 7 << 20] {
        let call = try channel.call(Method.unaryCall, request: request(count))
        let error = try await rpcFailure(.resourceExhausted) { try await call.response() }
        #expect(error.isFromServer, "\(error)")
      }
    }
  }

  @Test func `a compressed message is rejected`() async throws {
    try await Fixture.running { fixture in
      var options = RPCOptions()
      options.compression = .gzip
      let channel = try fixture.authorizedChannel(options: options)
      let call = try channel.call(Method.unaryCall, request: Data(repeating: 0x28, count: 1000))
      let error = try await rpcFailure(.unimplemented) { try await call.response() }
      #expect(error.message == "the server takes no compressed messages")
    }
  }
}
