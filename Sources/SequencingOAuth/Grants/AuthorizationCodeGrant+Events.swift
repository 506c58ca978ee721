import SQBasics

// Events that inform an observer about redirects.
extension AuthorizationCodeGrant {
  /// Returns a closure that reports each redirect for the current sign-in to the observer.
  ///
  /// The closure keeps the current `Observation`, because redirects arrive outside the sign-in's
  /// task. It keeps only the observer of the environment: a late redirect may come long after the
  /// sign-in, whose other objects can go.
  func telling(
    _ environment: ClientEnvironment
  ) -> @Sendable (PendingAuthorization.OfferResult) -> Void {
    guard let observer = environment.observer else { return { _ in } }
    let scope = Observation.current
    return { result in
      guard let subject = ClientEvent.Subject(result) else { return }
      observer.tell(observer.event(subject, of: scope))
    }
  }
}

extension ClientEvent.Subject {
  /// Creates the subject of an event about a redirect; `nil` for a repeated redirect.
  fileprivate init?(_ result: PendingAuthorization.OfferResult) {
    switch result {
    case .taken: self = .redirectAccepted
    case .repeated: return nil
    case .notAddressed: self = .redirectRefused(.foreignAddress)
    case .wrongState: self = .redirectRefused(.wrongState)
    case .tooLate: self = .redirectRefused(.tooLate)
    }
  }
}
