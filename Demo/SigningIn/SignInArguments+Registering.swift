import SQBasics
import SequencingOAuth

// Clients that register themselves because no developer registered them at the server.
extension SignInArguments {
  /// Returns these options with a client that the server registers now or registered before.
  func registering(
    in store: any RegistrationStore, _ console: Console
  ) async throws(Failure) -> SignInArguments {
    guard case .issuer(let issuer)? = server else { return self }
    try checkVisitor()
    let clientKey = try key?.clientKey(for: protections.profile)
    let before = try? await store.registration(at: issuer)
    if let before { try checkKey(of: before) }
    let registration: ClientRegistration
    do throws(SQOAuthError) {
      registration = try await self.registration(
        by: ClientRegistrar(
          issuer: issuer, timeout: answerLimit, environment: console.environment),
        of: clientKey, in: store)
    } catch {
      let isRefused =
        error.code == .registrationUnsupported || (400..<500).contains(error.status ?? 0)
      guard isRefused else { throw Failure(error) }
      throw Failure(error).withHint(
        "Register a client there, and give its identifier with --client-id.")
    }
    guard !usesDevice || registration.allows(DeviceAuthorization.grantType) else {
      throw Failure(
        SQOAuthError(
          .registrationMismatch,
          "the server does not let programs that it registers sign in on another device; leave "
            + "\(Option.device.name) out"))
    }
    if registration.clientID != before?.clientID {
      console.progress(
        "Registered this program at \(issuer.onScreen) as \(registration.clientID.onScreen).")
    }
    return try completed(by: registration)
  }

  /// Fails if the program's registration has a key and the options name none, or the reverse.
  ///
  /// A change of the registration would make the program's other accounts at the server unusable.
  private func checkKey(of registration: ClientRegistration) throws(Failure) {
    let hasKey = registration.clientAuthentication == .privateKeyJWT
    let usesKey = key != nil && [nil, .privateKeyJWT].contains(authentication)
    guard hasKey != usesKey else { return }
    let (issuer, id) = (registration.issuer.onScreen, registration.clientID.onScreen)
    throw Failure(
      "registered_otherwise",
      "this program is registered at \(issuer) as \(id), \(hasKey ? "with" : "without") a key",
      status: .notAuthorized
    ).withHint(
      hasKey
        ? "Name the file with that key, \(Option.key.name) FILE, and leave \(Option.auth.name) out."
        : "Leave \(Option.key.name) out, or keep the account in another --store, where the program "
          + "registers anew.")
  }

  /// Returns the registration, with the grant for a sign-in on another device if the user may need
  /// it.
  ///
  /// If the user did not ask for that grant, a server that rejects it causes no failure.
  private func registration(
    by registrar: ClientRegistrar, of clientKey: ClientKey?, in store: any RegistrationStore
  ) async throws(SQOAuthError) -> ClientRegistration {
    do throws(SQOAuthError) {
      return try await registrar.registration(
        of: metadata(clientKey, withDevice: mayUseDevice), in: store, options)
    } catch {
      let isOfMetadata = [.registrationMismatch, .invalidClientMetadata].contains(error.code)
      // Try again only without the device grant; with the same metadata, the server would refuse
      // again, or register another client.
      guard isOfMetadata, mayUseDevice, !usesDevice else { throw error }
      return try await registrar.registration(
        of: metadata(clientKey, withDevice: false), in: store, options)
    }
  }

  /// The options for a registration; a command that finds the server by itself uses the same ones.
  private var options: RegistrationOptions {
    var options = RegistrationOptions()
    (options.fixesPorts, options.verifies) = (true, true)
    return options
  }

  /// Returns the metadata that the program registers for itself.
  private func metadata(_ clientKey: ClientKey?, withDevice: Bool) -> ClientMetadata {
    var metadata = Self.metadata(redirectURI.string, withDevice: withDevice)
    metadata.clientAuthentication = authentication ?? clientKey.map { _ in .privateKeyJWT }
    metadata.scope = scope
    metadata.profile = protections.profile
    if let clientKey { metadata.keys = [clientKey] }
    // Some servers bind tokens only for a client that is registered for bound tokens.
    if protections.bindsTokens { metadata.bindsAccessTokens = true }
    return metadata
  }

  /// The client metadata for registering at the authorization server of a resource.
  var metadataOfResource: ClientMetadata {
    Self.metadata(Self.defaultRedirectURI, withDevice: mayUseDevice)
  }

  /// Whether the user wants or may need to sign in on another device.
  private var mayUseDevice: Bool { usesDevice || !SystemBrowser.isAvailable }

  /// Returns the part of the program's client metadata that is the same at every server.
  private static func metadata(_ redirectURI: String, withDevice: Bool) -> ClientMetadata {
    var metadata = ClientMetadata(
      redirectURIs: [redirectURI], clientName: "sq-demo",
      softwareID: "com.example.sequencing-oauth.sq-demo")
    if withDevice {
      metadata.grantTypes.append(DeviceAuthorization.grantType)
    }
    return metadata
  }
}
