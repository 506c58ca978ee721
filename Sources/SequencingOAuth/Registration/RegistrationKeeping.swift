import SQBasics

/// An operation that finds a client's registration in a store, and renews or creates it if needed.
struct RegistrationKeeping: Sendable {
  let registrar: ClientRegistrar
  private(set) var metadata: ClientMetadata
  let store: any RegistrationStore
  let options: RegistrationOptions
  /// The registration whose credentials the server has refused; `nil` if it has refused none.
  private(set) var refused: ClientRegistration?

  /// The maximum number of attempts when another program changes the stored registration.
  private static let attempts = 5
  /// The number of half-second pauses to wait for another host to store a renewed registration.
  private static let looks = 6
  /// The number of attempts, at intervals of 100 ms, to get the right to register.
  private static let leaseLooks = 350

  func registration() async throws(SQOAuthError) -> ClientRegistration {
    try metadata.check()
    for _ in 0..<Self.attempts {
      let kept = try await store.kept(registrar.issuer)
      var round = self
      round.metadata = wanted(after: kept)
      if let standing = try await round.standing(after: kept) {
        return standing.ordered(as: round.metadata.redirectURIs)
      }
    }
    throw SQOAuthError(
      .registrationMismatch,
      "other programs with other metadata keep replacing the stored registration; give each "
        + "of them a separate store")
  }

  /// Renews a stored registration whose credentials the server has refused.
  ///
  /// - Returns: The registration that is in the store now; `nil` if the server does not let the
  ///   client renew itself, or no longer knows it.
  func renewed(_ kept: ClientRegistration) async throws(SQOAuthError) -> ClientRegistration? {
    try metadata.check()
    var round = self
    round.refused = kept
    // An update without these scopes would delete them.
    round.metadata.scope = metadata.scope ?? kept.askedScope
    round.metadata = round.wanted(after: kept)
    switch try await round.renew(kept) {
    case .renewed(let registration): return registration.ordered(as: round.metadata.redirectURIs)
    case .changedElsewhere: return try await store.kept(registrar.issuer)
    case .failed: return nil
    }
  }

  /// Returns the description to register, with the redirect URIs and scopes of the stored client.
  private func wanted(after kept: ClientRegistration?) -> ClientMetadata {
    var wanted = metadata
    wanted.redirectURIs = LoopbackPorts.uris(
      metadata.redirectURIs, after: kept, fixesPorts: options.fixesPorts)
    // A server may register only one of several URIs that differ only in their ports.
    wanted.acceptsFewerRedirectURIs = options.fixesPorts
    guard let kept, let scope = metadata.scope else { return wanted }
    if !kept.isManageable, options.keepsScopes {
      wanted.scope = nil
    } else {
      let known = kept.askedScope ?? kept.scope ?? ""
      wanted.scope = (known.words + scope.words).withoutRepeats().joined(separator: " ")
    }
    return wanted
  }

  /// Returns the registration to use; `nil` if another program has changed the stored one.
  private func standing(
    after kept: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration? {
    guard let kept else { return try await registerAnew(replacing: nil) }
    if isGood(kept), !verifies(kept) { return kept }
    switch try await renew(kept) {
    case .renewed(let registration): return registration
    case .changedElsewhere: return nil
    case .failed(let latest): return try await registerAnew(replacing: latest)
    }
  }

  /// Returns whether to ask the server if it still knows a client.
  ///
  /// If the server replaces the token that manages the registration, each question can cost it: if
  /// the answer is lost, so is the new token.
  private func verifies(_ registration: ClientRegistration) -> Bool {
    options.verifies && registration.isManageable && registration.replacesToken != true
  }

  private func isGood(_ registration: ClientRegistration) -> Bool {
    registration.fits(metadata) && registration.isUsable(at: registrar.environment.clock.now)
  }

  /// Returns whether a client with a valid secret can be used although its renewal failed.
  ///
  /// It can if the renewal would only have verified the client or changed how the server signs, or
  /// if the client lacks only scopes and ``RegistrationOptions/keepsScopes`` is set.
  private func staysUsable(_ registration: ClientRegistration, isUpdate: Bool) -> Bool {
    guard !isRefused(registration), registration.isUsable(at: registrar.environment.clock.now)
    else { return false }
    if registration.serves(metadata) { return true }
    var withoutScope = metadata
    withoutScope.scope = nil
    return isUpdate && options.keepsScopes && registration.serves(withoutScope)
  }

  /// Returns whether a registration still works now, although it should be renewed.
  private func isBearable(_ registration: ClientRegistration) -> Bool {
    registration.serves(metadata)
      && registration.isUsable(at: registrar.environment.clock.now, reserve: 0)
  }

  /// Returns whether a registration has the credentials that the server has refused.
  private func isRefused(_ registration: ClientRegistration) -> Bool {
    refused.map(registration.hasCredentials) ?? false
  }

  /// Returns whether a registration has valid credentials in place of the refused ones.
  ///
  /// This is enough even if the registration does not fit: the next sign-in updates it.
  private func replacesRefused(_ registration: ClientRegistration) -> Bool {
    refused != nil && !isRefused(registration)
      && registration.isUsable(at: registrar.environment.clock.now, reserve: 0)
  }

  // MARK: Renewing

  private enum RenewalOutcome {
    case renewed(ClientRegistration)
    case changedElsewhere
    /// The client needs a new registration in place of this one.
    case failed(ClientRegistration)
  }

  /// Renews a registration; after `hasRead`, the registration has the current secret.
  private func renew(
    _ kept: ClientRegistration, hasRead: Bool = false
  ) async throws(SQOAuthError) -> RenewalOutcome {
    var latest = kept
    let readsFirst = refused != nil || kept.fits(metadata)
    // RFC 7592, section 2.1: a server may respond with a new secret even if the client only reads.
    for isUpdate in readsFirst ? [false, true] : [true] {
      let changed: ClientRegistration
      do throws(SQOAuthError) {
        // The server may replace the secret and the token, and it gives each only once.
        try await store.rehearse(at: registrar.issuer)
        changed =
          isUpdate
          ? try await registrar.update(latest, to: metadata) : try await registrar.read(latest)
      } catch {
        // RFC 7592, section 2.2: an update must have the current secret, which a read can give.
        if !readsFirst, !hasRead, error.status == 400, kept.clientSecret != nil,
          let current = try? await registrar.read(kept)
        {
          guard try await isKept(current, replacing: kept) else { return .changedElsewhere }
          if !current.hasCredentials(of: kept) { return try await renew(current, hasRead: true) }
          latest = current
        }
        return try await renewal(of: latest, isUpdate: isUpdate, after: error)
      }
      // The result is stored even if it does not fit, because the old secret and token may be
      // invalid.
      guard try await isKept(changed, replacing: latest) else { return .changedElsewhere }
      latest = changed
      // Some servers issue secrets that last less than the hour that a usable client must have
      // left. In this case it is enough that the new secret expires later than the old one.
      let isLonger = isBearable(latest) && latest.lasts(longerThan: kept)
      if isGood(latest) || isLonger || replacesRefused(latest) { return .renewed(latest) }
    }
    return .failed(latest)
  }

  private func renewal(
    of latest: ClientRegistration, isUpdate: Bool, after error: SQOAuthError
  ) async throws(SQOAuthError) -> RenewalOutcome {
    // Only 401 may mean that there is no such client. A server that does not let a client read or
    // change its registration still knows the client (RFC 7592, section 2.1), and a new client
    // would make the accounts of the old client unusable.
    if error.status != 401, staysUsable(latest, isUpdate: isUpdate) { return .renewed(latest) }
    // The program needs a new registration if the server ends the management, or answers 400 to
    // metadata that it has registered. After any other error, a client that still works stays in
    // use.
    guard error.endsManagement || latest.fits(metadata) && error.status == 400 else {
      guard !isRefused(latest), isBearable(latest) else { throw error }
      return .renewed(latest)
    }
    // Another host may have just renewed the client, and may not have stored the result yet.
    for _ in 0..<Self.looks {
      guard try await store.kept(registrar.issuer) == latest else { return .changedElsewhere }
      try? await Task.sleep(for: .milliseconds(500))
    }
    guard try await store.kept(registrar.issuer) == latest else { return .changedElsewhere }
    // RFC 7592, section 2.1: 401 also means that the token is invalid, perhaps because the answer
    // with the next token was lost.
    guard error.status == 401, staysUsable(latest, isUpdate: isUpdate),
      await registrar.knows(latest, as: metadata)
    else { return .failed(latest) }
    var unmanaged = latest
    unmanaged.management = nil
    return try await isKept(unmanaged, replacing: latest) ? .renewed(unmanaged) : .changedElsewhere
  }

  /// Stores a renewed registration; returns `false` if another program has changed the stored one.
  ///
  /// A failing store gets several attempts, because without the new secret and token the client is
  /// lost.
  private func isKept(
    _ changed: ClientRegistration, replacing latest: ClientRegistration
  ) async throws(SQOAuthError) -> Bool {
    guard changed != latest else { return true }
    let (clock, limit) = (registrar.environment.clock, registrar.environment.storeRetryTime)
    let end = clock.steadyTime + limit
    while true {
      do throws(SQOAuthError) {
        return try await store.keep(changed, replacing: latest) == changed
      } catch {
        guard clock.steadyTime < end else { throw error }
        do { try await clock.sleep(for: limit / 30) } catch _ { throw error }
      }
    }
  }

  // MARK: Registering

  /// Registers a new client; returns `nil` if another program has changed the stored registration.
  private func registerAnew(
    replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration? {
    let lease = await lease()
    defer { lease?.release() }
    guard try await store.kept(registrar.issuer) == earlier else { return nil }
    return try await registerAlone(replacing: earlier)
  }

  /// Waits until no other program registers at the server, but only for a limited time.
  ///
  /// An error of the store is ignored: the store fails again when it saves the client, and that
  /// error is thrown.
  private func lease() async -> AccountLease? {
    for _ in 0..<Self.leaseLooks {
      do {
        if let lease = try await store.registrationLease(at: registrar.issuer) { return lease }
      } catch {
        return nil
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
    return nil
  }

  private func registerAlone(
    replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration? {
    let new: ClientRegistration
    do throws(SQOAuthError) {
      try await store.rehearse(at: registrar.issuer)
      new = try await registrar.register(metadata)
    } catch {
      guard let earlier, isBearable(earlier) else { throw error }
      return earlier
    }
    let standing: ClientRegistration
    do throws(SQOAuthError) {
      standing = try await store.keep(new, replacing: earlier)
    } catch {
      try? await registrar.delete(new)
      throw error
    }
    guard standing == new else {
      if standing.clientID != new.clientID { try? await registrar.delete(new) }
      return nil
    }
    // Other hosts may still use a client whose secret has not expired.
    let now = registrar.environment.clock.now
    if let earlier, earlier.clientID != new.clientID, !earlier.isUsable(at: now, reserve: 0) {
      try? await registrar.delete(earlier)
    }
    return new
  }
}

extension ClientRegistration {
  fileprivate func lasts(longerThan other: ClientRegistration) -> Bool {
    guard let otherEnd = other.clientSecretExpirationDate else { return false }
    return clientSecretExpirationDate.map { $0 > otherEnd } ?? true
  }
}

extension SQOAuthError {
  /// Whether the server no longer knows a registration, or does not let clients manage themselves.
  ///
  /// - SeeAlso: RFC 7592, sections 2.1 and 2.2
  fileprivate var endsManagement: Bool {
    let codes: [Code] = [.registrationUnsupported, .registrationMismatch]
    return response == nil && codes.contains(code)
      || [401, 403, 404, 405, 410].contains(status ?? 0)
  }
}
