import SQBasics
import SQFoundation
import SQLoopback

/// The sandbox's state and request handler, shared by the server's connections and
/// ``SandboxServer``.
final class SandboxCore: Sendable {
  let log = RequestLog()
  private let state: Locked<SandboxState>
  private let closures: TestClosures

  init(_ state: SandboxState) {
    self.state = Locked(state)
    closures = state.closures
  }

  /// Calls `body` with exclusive access to the state, so that no endpoint runs meanwhile.
  ///
  /// In a closure of the test, the endpoint that calls the closure waits.
  func withState<Result: Sendable, Failure: Error>(
    _ body: (inout SandboxState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if var state = closures.state {
      defer { closures.state = state }
      return try body(&state)
    }
    return try state.withLock { state throws(Failure) in try body(&state) }
  }

  func reply(to request: LoopbackRequest) async -> LoopbackReply {
    let authority = withState { $0.address.dropFirst("http://".count) }
    // Reject other host names, because the request may come from another site (DNS rebinding).
    guard let host = request.header("host"), Self.isOwn(host, authority: authority) else {
      return .response(LoopbackResponse(status: 421))
    }
    let received = SandboxRequest(request, date: withState { $0.now })
    // The log shows the request to tests. What a test plans from then on is for later requests.
    let misbehaviour = received.endpoint.flatMap { endpoint in
      withState { $0.plan.take(endpoint, at: .answer) }
    }
    log.begin(received.remembered)
    defer { log.end(received) }
    await readClientDocument(for: received)
    let reply = await Misbehaving.reply(misbehaviour, to: received) { request, due in
      self.withState { sandbox in
        if let due, let endpoint = request.endpoint { sandbox.plan.addFirst(due, at: endpoint) }
        var answer = Self.answer(request, &sandbox)
        // RFC 9110, section 6.6.1
        answer.headers.append(("Date", Timestamp.http(sandbox.now)))
        return answer
      }
    }
    await sendLogoutNotices()
    return reply
  }

  private static func isOwn(_ host: String, authority: Substring) -> Bool {
    host == authority || host.lowercased() == "localhost" + authority.drop { $0 != ":" }
  }

  private static func answer(
    _ request: SandboxRequest, _ sandbox: inout SandboxState
  ) -> Answer {
    if let endpoint = request.endpoint,
      case .dpop(let fault) = sandbox.plan.take(endpoint, at: .proof)
    {
      return fault.answer(request, &sandbox, process: process)
    }
    return process(request, &sandbox)
  }

  private static func process(
    _ request: SandboxRequest, _ sandbox: inout SandboxState
  ) -> Answer {
    var answer = dispatch(request, &sandbox)
    guard let party = request.endpoint?.proofParty,
      let nonce = sandbox.nonceField(afterRequestTo: party, succeeded: answer.status < 400)
    else { return answer }
    answer.offer(nonce)
    return answer
  }

  private static func dispatch(
    _ request: SandboxRequest, _ sandbox: inout SandboxState
  ) -> Answer {
    switch request.endpoint {
    case .metadata: MetadataEndpoint.answer(request, &sandbox)
    case .resourceMetadata: ResourceMetadataEndpoint.answer(request, &sandbox)
    case .authorization: AuthorizationEndpoint.answer(request, &sandbox)
    case .login: LoginEndpoint.answer(request, &sandbox)
    case .consent: ConsentEndpoint.answer(request, &sandbox)
    case .pushedAuthorization: PushedAuthorizationEndpoint.answer(request, &sandbox)
    case .deviceAuthorization: DeviceAuthorizationEndpoint.answer(request, &sandbox)
    case .device: DeviceEndpoint.answer(request, &sandbox)
    case .token: TokenEndpoint.answer(request, &sandbox)
    case .revocation: RevocationEndpoint.answer(request, &sandbox)
    case .introspection: IntrospectionEndpoint.answer(request, &sandbox)
    case .registration: RegistrationEndpoint.register(request, &sandbox)
    case .clientConfiguration: RegistrationEndpoint.manage(request, &sandbox)
    case .keys: KeySetEndpoint.answer(request, &sandbox)
    case .userInfo: UserInfoEndpoint.answer(request, &sandbox)
    case .endSession: EndSessionEndpoint.answer(request, &sandbox)
    case .me: ProtectedAPI.me(request, &sandbox)
    case .files: ProtectedAPI.files(request, &sandbox)
    case .driveAbout: DriveAPI.about(request, &sandbox)
    case .driveFiles: DriveFiles.answer(request, &sandbox)
    case .driveFile: DriveFile.answer(request, &sandbox)
    case .driveContent: DriveContent.answer(request, &sandbox)
    case .driveUpload: DriveUpload.answer(request, &sandbox)
    case nil:
      request.path == "/" && request.isGet
        ? ErrorPage.home(sandbox) : ErrorPage.notFound()
    }
  }
}
