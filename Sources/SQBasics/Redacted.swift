/// A type that shows its `description` wherever Swift prints a value, and never what it stores.
///
/// By themselves `print`, text interpolation, `dump`, `Mirror` and a debugger's `po` show every
/// stored property. For a type that conforms to this protocol they show its `description`, and
/// below it the ``shownParts``. A type without a description of its own shows its name.
///
/// A public type may conform, although this protocol is not public: its conformances to Swift's
/// three protocols are public. That is why these defaults are, too.
package protocol Redacted:
  CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  /// What `dump`, `Mirror` and `po` show below the description; nothing by default.
  var shownParts: KeyValuePairs<String, Any> { get }
}

extension Redacted {
  /// The name of the type.
  public var description: String { "\(Self.self)" }

  /// The text of `description`.
  public var debugDescription: String { description }

  /// The shown parts, in place of the stored properties.
  public var customMirror: Mirror { Mirror(self, children: shownParts) }

  package var shownParts: KeyValuePairs<String, Any> { [:] }
}
