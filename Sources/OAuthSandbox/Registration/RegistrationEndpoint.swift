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
      sandbox.registered.entries[client.id] = RegisteredClients.Entry(
        accessToken: Crypto.secret("registration-"), issued: sandbox.seconds,
        metadata: description.json)
      return Answer(status: 201, json: describe(client, description, sandbox))
    } catch {
      return error.answer
    }
  }

  private static func describe(
    _ client: SandboxClient, _ description: ClientDescription, _ sandbox: SandboxState
  ) -> SandboxJSON {
    var json = description.json
    json["client_id"] = .string(client.id)
    if let secret = client.secret {
      json["client_secret"] = .string(secret)
      json["client_secret_expires_at"] = 0
    }
    json["token_endpoint_auth_method"] = .string(description.method.rawValue)
    json["grant_types"] = .strings(description.grantTypes)
    json["redirect_uris"] = .strings(description.redirectURIs)
    if let entry = sandbox.registered.entries[client.id] {
      json["client_id_issued_at"] = .integer(entry.issued)
      json["registration_access_token"] = .string(entry.accessToken)
      json["registration_client_uri"] = .string(
        "\(sandbox.address)\(SandboxEndpoint.clientConfiguration.path)/\(client.id)")
    }
    return json
  }

  // MARK: Managing

  static func manage(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    let prefix = SandboxEndpoint.clientConfiguration.path + "/"
    let id = String(request.path.dropFirst(prefix.count))
    guard let entry = sandbox.registered.entries[id], request.bearerToken == entry.accessToken,
      let index = sandbox.options.clients.firstIndex(where: { $0.id == id })
    else { return unauthorized }
    switch request.method {
    case "GET":
      return read(sandbox.options.clients[index], entry, sandbox)
    case "PUT":
      return update(index, request, &sandbox)
    case "DELETE":
      sandbox.forgetClient(id)
      return Answer(status: 204, content: .text(""))
    default:
      return .methodNotAllowed("GET, PUT, DELETE")
    }
  }

  private static func read(
    _ client: SandboxClient, _ entry: RegisteredClients.Entry, _ sandbox: SandboxState
  ) -> Answer {
    var json = entry.metadata
    json["client_id"] = .string(client.id)
    json["client_secret"] = client.secret.map(SandboxJSON.string)
    if client.secret != nil { json["client_secret_expires_at"] = 0 }
    json["client_id_issued_at"] = .integer(entry.issued)
    json["registration_access_token"] = .string(entry.accessToken)
    json["registration_client_uri"] = .string(
      "\(sandbox.address)\(SandboxEndpoint.clientConfiguration.path)/\(client.id)")
    return Answer(json: json)
  }

  private static func update(
    _ index: Int, _ request: SandboxRequest, _ sandbox: inout SandboxState
  ) -> Answer {
    do throws(OAuthFault) {
      var description = try ClientDescription(request, sandbox)
      let old = sandbox.options.clients[index]
      guard description.json["client_id"] == .string(old.id),
        description.json["client_secret"] == old.secret.map(SandboxJSON.string)
      else { throw .invalidRequest("The client_id or client_secret is wrong.") }
      description.json["client_secret"] = nil
      let secret =
        description.method.usesSecret ? old.secret ?? Crypto.secret("secret-") : nil
      let client = description.client(id: old.id, secret: secret)
      sandbox.options.clients[index] = client
      sandbox.registered.entries[client.id]?.metadata = description.json
      return Answer(json: describe(client, description, sandbox))
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
    registered.entries[id] = nil
    ledger.revokeAll(of: id)
  }
}
