import SQBasics
import SequencingOAuth

// The client of a program that no developer has registered at the server.
extension SignInArguments {
  /// These options with a client that the server has registered, now or before.
  func registering(
    in store: any RegistrationStore, _ console: Console
  ) async throws(Failure) -> SignInArguments {
    guard case .issuer(let issuer)? = server else { return self }
    try checkVisitor()
    let before = try? await store.registration(at: issuer)
    let registration: ClientRegistration
    do throws(SQOAuthError) {
      registration = try await self.registration(
        by: ClientRegistrar(issuer: issuer, timeout: answerLimit), in: store)
    } catch {
      let isRefused =
        error.code == .registrationUnsupported || (400..<500).contains(error.status ?? 0)
      guard isRefused else { throw Failure(error) }
      throw Failure(error).withHint(
        "Register a client there, and give its identifier with --client-id.")
    }
    if registration.clientID != before?.clientID {
      console.progress(
        "Registered this program at \(issuer.onScreen) as \(registration.clientID.onScreen).")
    }
    return try completed(by: registration)
  }

  /// The registration with the grant for a sign-in on another device, if the user may need it.
  ///
  /// Where that grant is only a possibility, a server that has no such grant is no reason to fail.
  private func registration(
    by registrar: ClientRegistrar, in store: any RegistrationStore
  ) async throws(SQOAuthError) -> ClientRegistration {
    do throws(SQOAuthError) {
      let mayUseDevice = usesDevice || !SystemBrowser.isAvailable
      return try await registrar.registration(of: metadata(withDevice: mayUseDevice), in: store)
    } catch {
      let isOfMetadata = [.registrationMismatch, .invalidClientMetadata].contains(error.code)
      guard isOfMetadata, !usesDevice else { throw error }
      return try await registrar.registration(of: metadata(withDevice: false), in: store)
    }
  }

  /// What the program says of itself.
  private func metadata(withDevice: Bool) -> ClientMetadata {
    var metadata = ClientMetadata(
      redirectURIs: [redirectURI.string], clientAuthentication: authentication,
      clientName: "sq-demo", scope: scope,
      softwareID: "com.example.sequencing-oauth.sq-demo")
    if withDevice {
      metadata.grantTypes.append("urn:ietf:params:oauth:grant-type:device_code")
    }
    return metadata
  }
}
