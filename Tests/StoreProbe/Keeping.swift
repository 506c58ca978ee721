import Foundation
import SequencingOAuth
import SequencingOAuthBackend

extension Probe {
  /// Keeps all accounts of the store fresh until the process gets SIGTERM, and prints each event.
  func keep(issuer: String) async throws {
    let configuration = try ClientConfiguration(
      clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", provider: .issuer(issuer))
    signal(SIGTERM, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    let keeper = AccountManager(store: store).keepFresh { _ in configuration }
    let events = keeper.events()
    source.setEventHandler { Task { await keeper.stop() } }
    source.resume()
    for await event in events {
      switch event {
      case .refreshed(let id): say("refreshed \(id)")
      case .takenOver(let id): say("taken over \(id)")
      case .failed(let id, let error): say("failed \(id) \(error.code.rawValue)")
      case .ended(let id, let error): say("ended \(id) \(error.code.rawValue)")
      case .paused(_, let time): say("paused \(time)")
      case .storeFailed(let error): say("store failed \(error.code.rawValue)")
      }
    }
    withExtendedLifetime(source) { say("stopped") }
  }
}
