import SQBasics
public import SQFoundation
public import SequencingOAuth

/// The operations that create, read, update and delete records.
///
/// The API's response is decoded into any `Decodable` type, or into a `JSONValue` if the caller
/// names no type. An empty response is decoded as `null`. An id is a text or a whole number.
extension Pipeline.Pipe {
  /// Reads the records with a `GET` request to the pipe's URL.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type = JSONValue.self, parameters: [String: String] = [:]
  ) async throws(PipeError) -> Value {
    try await read(try request("GET", parameters: parameters)).value(type)
  }

  /// Reads the record with an id, with a `GET` request to the record's URL.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type = JSONValue.self, id: some LosslessStringConvertible,
    parameters: [String: String] = [:]
  ) async throws(PipeError) -> Value {
    try await read(try request("GET", id: id.description, parameters: parameters)).value(type)
  }

  /// Reads the content of a record, or of the pipe's URL if there is no id, without decoding it.
  public func content(
    id: (some LosslessStringConvertible)? = String?.none, parameters: [String: String] = [:]
  ) async throws(PipeError) -> Data {
    var request = try request("GET", id: id?.description, parameters: parameters)
    request.headers["Accept"] = nil
    return try await perform(request).body
  }

  /// Saves a record and returns the API's response.
  ///
  /// It sends a `PUT` to the record's URL if the record has an id, and otherwise a `POST` to the
  /// pipe's URL. The record's JSON must be an object; its member ``PipeConfiguration/recordID`` is
  /// the id.
  @discardableResult
  public func save<Record: Encodable, Value: Decodable & Sendable>(
    _ record: Record, returning type: Value.Type = JSONValue.self
  ) async throws(PipeError) -> Value {
    let (json, id) = try encode(record)
    let request = try request(
      id == nil ? "POST" : "PUT", id: id, body: .bytes(json), contentType: "application/json")
    return try await read(request).value(type)
  }

  /// Removes the record with an id, with a `DELETE` request to the record's URL.
  public func remove(id: some LosslessStringConvertible) async throws(PipeError) {
    _ = try await perform(try request("DELETE", id: id.description))
  }

  /// Removes a record by the id it contains, with a `DELETE` request to the record's URL.
  ///
  /// The id is the member ``PipeConfiguration/recordID`` of the record's JSON. If the record has no
  /// id, the method throws ``PipeError/failed(_:)`` with `SQOAuthError.Code.malformedRequest`.
  public func remove(_ record: some Encodable) async throws(PipeError) {
    guard let id = try encode(record).id else {
      throw .failed(
        SQOAuthError(
          .malformedRequest,
          "the record has no \"\(configuration.recordID)\", so it cannot be removed"))
    }
    try await remove(id: id)
  }
}

// MARK: - JSON

extension Pipeline.Pipe {
  /// Returns the JSON of a record, and its id; the id is `nil` if the record has none.
  private func encode(_ record: some Encodable) throws(PipeError) -> (json: Data, id: String?) {
    let json: Data
    let value: JSONValue
    do {
      json = try configuration.encoder().encode(record)
      value = try JSONReader.value(of: json, .own)
    } catch {
      throw Self.notAnObject(cause: error)
    }
    guard let members = value.object else { throw Self.notAnObject() }
    switch members[configuration.recordID] {
    case nil, .null: return (json, nil)
    case .string(let id): return (json, id)
    case .integer(let id): return (json, String(id))
    default:
      throw .failed(
        SQOAuthError(
          .malformedRequest,
          "the record's \"\(configuration.recordID)\" is neither a text nor a whole number; "
            + "nothing was sent"))
    }
  }

  private static func notAnObject(cause: (any Error)? = nil) -> PipeError {
    .failed(
      SQOAuthError(
        .malformedRequest, "the record cannot be written as a JSON object; nothing was sent",
        cause: cause))
  }
}
