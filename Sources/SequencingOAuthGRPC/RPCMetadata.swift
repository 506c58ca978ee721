public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The names and values that are sent with a call besides its messages, in order.
///
/// Letter case in names does not matter; they are stored and sent in lower case. A name that ends
/// in `-bin` has bytes, which are sent as base64; any other name has printable ASCII. A name may
/// have several values. Metadata is a value type: a call keeps a copy of what you set.
///
/// Printing shows the names only, since a value may be a credential.
public struct RPCMetadata: Sendable, Hashable {
  /// A value of an entry: a text or bytes.
  public enum Value: Sendable, Hashable {
    /// A text of printable ASCII.
    case text(String)
    /// Bytes; the name of the entry ends in `-bin`.
    case bytes(Data)
  }

  /// A name with one of its values.
  public struct Entry: Sendable, Hashable {
    /// The name, in lower case.
    public let name: String
    /// One value of the name.
    public let value: Value
  }

  private(set) var entries: [Entry] = []
  /// Why a text that was set by a subscript cannot be sent, by the name in lower case.
  private var flaws: [String: String] = [:]

  /// Creates metadata without entries.
  public init() {}

  /// Creates metadata from names and texts.
  ///
  /// Throws what ``append(_:for:)-(String,_)`` throws.
  public init(_ texts: KeyValuePairs<String, String>) throws(RPCError) {
    for (name, text) in texts { try append(text, for: name) }
  }

  /// Creates metadata from entries that were received; they are not checked.
  init(received entries: [Entry]) {
    self.entries = entries
  }

  // MARK: Reading

  /// The first text of a name; `nil` if it has none.
  ///
  /// Setting a text replaces the values that the name had; setting `nil` removes them. A name or a
  /// text that ``set(_:for:)-(String,_)`` would refuse is kept as a mistake: a call with it ends with
  /// ``RPCStatus/invalidArgument``, and nothing is sent.
  public subscript(name: String) -> String? {
    get { values(for: name).first }
    set {
      let key = name.lowercased()
      remove(name)
      guard let newValue else { return }
      do throws(RPCError) {
        try set(newValue, for: name)
      } catch {
        flaws[key] = error.message
      }
    }
  }

  /// Throws if an entry cannot be sent.
  func checkSendable() throws(RPCError) {
    guard let flaw = flaws.min(by: { $0.key < $1.key }) else { return }
    throw RPCError(.invalidArgument, flaw.value)
  }

  /// Every text of a name, in order.
  public func values(for name: String) -> [String] {
    all(name).compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  /// Every value of a name that ends in `-bin`, in order.
  public func bytes(for name: String) -> [Data] {
    all(name).compactMap { if case .bytes(let data) = $0 { data } else { nil } }
  }

  private func all(_ name: String) -> [Value] {
    let name = name.lowercased()
    return entries.filter { $0.name == name }.map(\.value)
  }

  // MARK: Changing

  /// Sets the one text of a name, and removes the values that it had.
  ///
  /// Throws what ``append(_:for:)-(String,_)`` throws.
  public mutating func set(_ text: String, for name: String) throws(RPCError) {
    try replace(try Self.entry(text, name))
  }

  /// Sets the one value of a name that ends in `-bin`, and removes the values that it had.
  ///
  /// Throws what ``append(_:for:)-(Data,_)`` throws.
  public mutating func set(_ bytes: Data, for name: String) throws(RPCError) {
    try replace(try Self.entry(bytes, name))
  }

  /// Adds a text to the values of a name.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the name or the text cannot be sent, if gRPC or
  ///   HTTP reserves the name, or if the name ends in `-bin`.
  public mutating func append(_ text: String, for name: String) throws(RPCError) {
    entries.append(try Self.entry(text, name))
  }

  /// Adds bytes to the values of a name that ends in `-bin`.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the name cannot be sent, if gRPC or HTTP reserves
  ///   it, or if it does not end in `-bin`.
  public mutating func append(_ bytes: Data, for name: String) throws(RPCError) {
    entries.append(try Self.entry(bytes, name))
  }

  /// Removes all values of a name.
  public mutating func remove(_ name: String) {
    let name = name.lowercased()
    entries.removeAll { $0.name == name }
    flaws[name] = nil
  }

  private mutating func replace(_ entry: Entry) throws(RPCError) {
    let index = entries.firstIndex { $0.name == entry.name }
    entries.removeAll { $0.name == entry.name }
    entries.insert(entry, at: index ?? entries.endIndex)
  }

  /// Returns these entries and the others; of a name that is in both, only the others remain.
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
  /// The names, without values.
  public var description: String { "[" + entries.map(\.name).joined(separator: ", ") + "]" }
}

extension RPCMetadata.Entry: Redacted {
  /// The name, without the value.
  public var description: String { name }
}

extension RPCMetadata.Value: Redacted {
  /// The kind and the size of the value, not the value itself.
  public var description: String {
    switch self {
    case .text(let text): "text of \(text.utf8.count)"
    case .bytes(let data): "\(data.count) bytes"
    }
  }
}
