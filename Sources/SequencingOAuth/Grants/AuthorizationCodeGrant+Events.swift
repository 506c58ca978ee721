import SQBasics

// Events that inform an observer about redirects.
extension AuthorizationCodeGrant {
  /// Returns a closure that reports each redirect for the current sign-in to the observer.
  ///
  /// The closure keeps the current `Observation`, because redirects arrive outside the sign-in's
  /// task.
  func telling(
    _ environment: ClientEnvironment
  ) -> @Sendable (PendingAuthorization.OfferResult) -> Void {
    guard environment.observer != nil else { return { _ in } }
    let scope = Observation.current
    return { result in
      guard let subject = ClientEvent.Subject(result) else { return }
      environment.tell(subject, in: scope)
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
