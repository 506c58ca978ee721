/// A closure of the app, on its way to where it is called.
///
/// It need not be `Sendable`: a closure of the main actor, of another actor, or of a class with
/// variables of its own is called only where it belongs.
package final class Completion<Value: Sendable>: @unchecked Sendable {
  private let function: @isolated(any) (Value) -> Void

  package init(_ function: @escaping @isolated(any) (Value) -> Void) {
    self.function = function
  }

  /// Whether the closure belongs to an actor.
  var hasActor: Bool { function.isolation != nil }

  /// Calls the closure on its actor, or here if it has none.
  ///
  /// `isWanted` is asked there, right before the call.
  nonisolated(nonsending) func call(
    with value: Value, if isWanted: @Sendable () -> Bool
  ) async {
    if let actor = function.isolation {
      await call(with: value, if: isWanted, on: actor)
    } else if isWanted() {
      await function(value)
    }
  }

  private func call(
    with value: Value, if isWanted: @Sendable () -> Bool, on actor: isolated any Actor
  ) async {
    if isWanted() { await function(value) }
  }
}
