#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Create, read, update and delete.
///
/// What an API answers is decoded into any `Decodable` type, or stands as a ``JSONValue`` where none
/// is asked for; an empty answer counts as `null`. An id is a text or a number.
extension Pipeline.Pipe {
  /// Reads the records: `GET` on the pipe's URL.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type = JSONValue.self, parameters: [String: String] = [:]
  ) async throws(PipeError) -> Value {
    try await value(type, of: try request("GET", parameters: parameters))
  }

  /// Reads one record: `GET` on the URL of the record.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type = JSONValue.self, id: some LosslessStringConvertible,
    parameters: [String: String] = [:]
  ) async throws(PipeError) -> Value {
    try await value(type, of: try request("GET", id: id.description, parameters: parameters))
  }

  /// Reads the content of a record, or of the pipe's URL, as it is.
  public func content(
    id: (some LosslessStringConvertible)? = String?.none, parameters: [String: String] = [:]
  ) async throws(PipeError) -> Data {
    var request = try request("GET", id: id?.description, parameters: parameters)
    request.headers["Accept"] = nil
    return try await perform(request).body
  }

  /// Saves a record: `PUT` on its URL where it has an id, `POST` on the pipe's URL where it has
  /// none; returns what the API answers.
  ///
  /// The id is the member ``PipeConfiguration/recordID`` of the record's JSON, which is to be an
  /// object.
  @discardableResult
  public func save<Record: Encodable, Value: Decodable & Sendable>(
    _ record: Record, returning type: Value.Type = JSONValue.self
  ) async throws(PipeError) -> Value {
    let (json, id) = try encode(record)
    let request = try request(
      id == nil ? "POST" : "PUT", id: id, body: .bytes(json), contentType: "application/json")
    return try await value(type, of: request)
  }

  /// Removes the record of an id: `DELETE` on its URL.
  public func remove(id: some LosslessStringConvertible) async throws(PipeError) {
    _ = try await perform(try request("DELETE", id: id.description))
  }

  /// Removes a record by the id that it has.
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
  /// Far more than an API lists at a time, and little enough to be decoded in seconds.
  private static let maximumValues = 500_000

  func decode<Value: Decodable>(
    _ type: Value.Type, _ response: HTTPResponse
  ) throws(PipeError) -> Value {
    do throws(SQOAuthError) {
      return try JSONMessage.decode(
        type, from: response.body.isEmpty ? Data("null".utf8) : response.body, as: "API's answer",
        maximumValues: Self.maximumValues, with: configuration.decoder())
    } catch {
      throw .unreadable(error)
    }
  }

  /// What the API answers to a request.
  private func value<Value: Decodable & Sendable>(
    _ type: Value.Type, of request: HTTPRequest
  ) async throws(PipeError) -> Value {
    try decode(type, try await perform(request))
  }

  /// The JSON of a record, and its id.
  private func encode(_ record: some Encodable) throws(PipeError) -> (json: Data, id: String?) {
    let members: [String: JSONValue]
    let json: Data
    do {
      json = try configuration.encoder().encode(record)
      members = try JSONDecoder().decode([String: JSONValue].self, from: json)
    } catch {
      throw .failed(
        SQOAuthError(
          .malformedRequest, "the record cannot be written as a JSON object; nothing was sent",
          cause: error))
    }
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
}
