public import SQBasics
public import SQFoundation
import SequencingOAuth

/// An ordered list of names and values that are sent with a call's messages.
///
/// Letter case in names does not matter; they are stored and sent in lower case. The values of a
/// name that ends in `-bin` are bytes, and are sent as base64. The values of any other name are
/// printable ASCII text. A name may have several values. Metadata is a value type: a call keeps a
/// copy of what you set.
///
/// Printing shows only the names, because a value may be a credential.
public struct RPCMetadata: Sendable, Hashable {
  /// A value of an entry: text or bytes.
  public enum Value: Sendable, Hashable {
    /// A text of printable ASCII.
    case text(String)
    /// Bytes, in an entry with a name that ends in `-bin`.
    case bytes(Data)
  }

  /// A name and one value.
  public struct Entry: Sendable, Hashable {
    /// The name, in lower case.
    public let name: String
    /// The value; a name with several values has an entry for each value.
    public let value: Value
  }

  private(set) var entries: [Entry] = []
  /// The error messages of failed assignments through the subscript, by lower-case name.
  private var flaws: [String: String] = [:]

  /// Creates metadata without entries.
  public init() {}

  /// Creates metadata from names and texts.
  ///
  /// Throws the errors of ``append(_:for:)-(String,_)``.
  public init(_ texts: KeyValuePairs<String, String>) throws(RPCCallError) {
    for (name, text) in texts { try append(text, for: name) }
  }

  /// Creates metadata from received entries, without checking them.
  init(received entries: [Entry]) {
    self.entries = entries
  }

  // MARK: Reading

  /// The first text of a name; `nil` if it has none.
  ///
  /// Setting a text replaces all values of the name; setting `nil` removes them. The subscript
  /// cannot throw: if the name or the text is not allowed, a later call with this metadata ends
  /// with ``RPCStatus/invalidArgument`` and sends nothing. ``set(_:for:)-(String,_)`` throws at
  /// once.
  public subscript(name: String) -> String? {
    get { values(for: name).first }
    set {
      let key = name.lowercased()
      remove(name)
      guard let newValue else { return }
      do throws(RPCCallError) {
        try set(newValue, for: name)
      } catch {
        flaws[key] = error.message
      }
    }
  }

  /// Throws if an entry cannot be sent.
  func checkSendable() throws(RPCCallError) {
    guard let flaw = flaws.min(by: { $0.key < $1.key }) else { return }
    throw RPCCallError(.invalidArgument, flaw.value)
  }

  /// Returns all texts of a name, in order.
  public func values(for name: String) -> [String] {
    all(name).compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Returns all values of a name that ends in `-bin`, in order.
  public func bytes(for name: String) -> [Data] {
    all(name).compactMap { if case .bytes(let data) = $0 { data } else { nil } }
  }

  private func all(_ name: String) -> [Value] {
    let name = name.lowercased()
    return entries.filter { $0.name == name }.map(\.value)
  }

  // MARK: Changing

  /// Replaces all values of a name with a text.
  ///
  /// Throws the errors of ``append(_:for:)-(String,_)``.
  public mutating func set(_ text: String, for name: String) throws(RPCCallError) {
    replace(try Self.entry(text, name))
  }

  /// Replaces all values of a name that ends in `-bin` with bytes.
  ///
  /// Throws the errors of ``append(_:for:)-(Data,_)``.
  public mutating func set(_ bytes: Data, for name: String) throws(RPCCallError) {
    replace(try Self.entry(bytes, name))
  }

  /// Adds a text to a name's values.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the name or the text cannot be sent, if gRPC or
  ///   HTTP reserves the name, or if the name ends in `-bin`.
  public mutating func append(_ text: String, for name: String) throws(RPCCallError) {
    entries.append(try Self.entry(text, name))
  }

  /// Adds bytes to the values of a name; the name must end in `-bin`.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the name cannot be sent, if gRPC or HTTP reserves
  ///   it, or if it does not end in `-bin`.
  public mutating func append(_ bytes: Data, for name: String) throws(RPCCallError) {
    entries.append(try Self.entry(bytes, name))
  }

  /// Removes all values of a name.
  public mutating func remove(_ name: String) {
    let name = name.lowercased()
    entries.removeAll { $0.name == name }
    flaws[name] = nil
  }

  private mutating func replace(_ entry: Entry) {
    let index = entries.firstIndex { $0.name == entry.name }
    remove(entry.name)
    entries.insert(entry, at: index ?? entries.endIndex)
  }

  /// Returns these entries and `others`; if both have a name, only its values in `others` are kept.
  func merged(with others: RPCMetadata) -> RPCMetadata {
    let names = Set(others.entries.map(\.name))
    return RPCMetadata(received: entries.filter { !names.contains($0.name) } + others.entries)
  }
}

extension RPCMetadata: RandomAccessCollection {
  /// The position of the first entry.
  public var startIndex: Int { entries.startIndex }
  /// The position after the last entry.
  public var endIndex: Int { entries.endIndex }
  /// The entry at a position.
  public subscript(position: Int) -> Entry { entries[position] }
}

extension RPCMetadata: Redacted {
  /// The names, without their values.
  public var description: String { "[" + entries.map(\.name).joined(separator: ", ") + "]" }
}

extension RPCMetadata.Entry: Redacted {
  /// The name, without its value.
  public var description: String { name }
}

extension RPCMetadata.Value: Redacted {
  /// The kind and size of the value, not the value itself.
  public var description: String {
    switch self {
    case .text(let text): "text of \(text.utf8.count) bytes"
    case .bytes(let data): "\(data.count) bytes"
    }
  }
}
