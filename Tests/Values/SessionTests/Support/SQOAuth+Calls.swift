@testable import SequencingOAuth

extension SQOAuth {
  /// Waits until all calls of the delegates so far have returned.
  func delegatesWereCalled() async {
    await withCheckedContinuation { called in module.callbacks.inOrder { called.resume() } }
  }
}
