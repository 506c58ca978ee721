import FoundationEssentials

/// Requires that encoding a value as JSON and decoding the JSON gives an equal value.
///
/// The JSON's bytes are compared too, because equal strings may have different bytes.
func requireCodable<Value: Codable & Equatable>(_ value: Value, _ name: String) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys]
  let bytes: Data
  let again: Value
  do {
    bytes = try encoder.encode(value)
    again = try JSONDecoder().decode(Value.self, from: bytes)
  } catch {
    throw Finding(description: "\(name) cannot be encoded as JSON and decoded: \(error)")
  }
  try require(again == value, "\(name) comes back different from its JSON")
  let bytesAgain = try encoder.encode(again)
  try require(bytesAgain == bytes, "\(name) gives other JSON when it is encoded again")
}
