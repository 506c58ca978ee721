import Foundation

@testable import SequencingOAuth

extension JSONWebKeySet {
  /// Returns a set of keys, as a server would publish it.
  static func of(_ keys: [JSONValue]) throws -> JSONWebKeySet {
    try JSONWebKeySet(JSONEncoder().encode(JSONValue.object(["keys": .array(keys)])))
  }
}
