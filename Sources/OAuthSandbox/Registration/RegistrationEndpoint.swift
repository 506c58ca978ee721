/// The registration endpoint, `/register`, and the address of each registration.
///
/// - SeeAlso: RFC 7591; RFC 7592
enum RegistrationEndpoint {
  // MARK: Registering

  static func register(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    if let needed = sandbox.options.initialAccessToken, request.bearerToken != needed {
      return unauthorized
    }
    do throws(OAuthFault) {
      let description = try ClientDescription(request, sandbox)
      let secret = description.method.usesSecret ? Crypto.secret("secret-") : nil
      let client = description.client(id: Crypto.secret("client-"), secret: secret)
      sandbox.options.clients.append(client)
      let entry = RegisteredClient(
        accessToken: Crypto.secret("registration-"), issued: sandbox.seconds,
        metadata: description.registered)
      sandbox.registered[client.id] = entry
      return Answer(status: 201, json: describe(client, entry, sandbox))
    } catch {
      return error.answer
    }
  }

  /// Returns the client information of RFC 7591, section 3.2.1, and RFC 7592, section 3.
  private static func describe(
    _ client: SandboxClient, _ entry: RegisteredClient, _ sandbox: SandboxState
  ) -> SandboxJSON {
    var json = entry.metadata
    json["client_id"] = .string(client.id)
    if let secret = client.secret {
      json["client_secret"] = .string(secret)
      json["client_secret_expires_at"] = 0
    }
    json["client_id_issued_at"] = .integer(entry.issued)
    json["registration_access_token"] = .string(entry.accessToken)
    json["registration_client_uri"] = .string(
      "\(sandbox.address)\(SandboxEndpoint.clientConfiguration.path)/\(client.id)")
    return json
  }

  // MARK: Managing

  static func manage(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    let prefix = SandboxEndpoint.clientConfiguration.path + "/"
    let id = String(request.path.dropFirst(prefix.count))
    guard let entry = sandbox.registered[id], request.bearerToken == entry.accessToken,
      let index = sandbox.options.clients.firstIndex(where: { $0.id == id })
    else { return unauthorized }
    switch request.method {
    case "GET":
      return Answer(json: describe(sandbox.options.clients[index], entry, sandbox))
    case "PUT":
      return update(index, entry, request, &sandbox)
    case "DELETE":
      sandbox.forgetClient(id)
      return Answer(status: 204, content: .text(""))
    default:
      return .methodNotAllowed("GET, PUT, DELETE")
    }
  }

  private static func update(
    _ index: Int, _ entry: RegisteredClient, _ request: SandboxRequest,
    _ sandbox: inout SandboxState
  ) -> Answer {
    do throws(OAuthFault) {
      let description = try ClientDescription(request, sandbox)
      let old = sandbox.options.clients[index]
      guard description.json["client_id"] == .string(old.id),
        description.json["client_secret"] == old.secret.map(SandboxJSON.string)
      else { throw .invalidRequest("The client_id or client_secret is wrong.") }
      let secret =
        description.method.usesSecret ? old.secret ?? Crypto.secret("secret-") : nil
      let client = description.client(id: old.id, secret: secret)
      sandbox.options.clients[index] = client
      var entry = entry
      entry.metadata = description.registered
      sandbox.registered[client.id] = entry
      return Answer(json: describe(client, entry, sandbox))
    } catch {
      return error.answer
    }
  }

  private static var unauthorized: Answer {
    Answer(
      status: 401, headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")],
      json: .error("invalid_token", "The token for the registration is missing or wrong."))
  }
}

extension SandboxState {
  /// Removes a client, its registration and its tokens.
  mutating func forgetClient(_ id: String) {
    options.clients.removeAll { $0.id == id }
    registered[id] = nil
    ledger.revokeAll(of: id)
  }
}
