#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The operations for code without `async`.
///
/// Each completion is called once: on its actor if it belongs to one, and otherwise on
/// ``Pipeline/callbackQueue``. No `progress` closure is called after it.
extension Pipeline.Pipe {
  /// Reads the records; see ``read(_:parameters:)``.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type, parameters: [String: String] = [:],
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.read(type, parameters: parameters)
    }
  }

  /// Reads one record; see ``read(_:id:parameters:)``.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type, id: some LosslessStringConvertible & Sendable,
    parameters: [String: String] = [:],
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.read(type, id: id, parameters: parameters)
    }
  }

  /// Reads content as it is; see ``content(id:parameters:)``.
  public func content(
    id: (some LosslessStringConvertible & Sendable)? = String?.none,
    parameters: [String: String] = [:],
    completion: @escaping @isolated(any) (Result<Data, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.content(id: id, parameters: parameters)
    }
  }

  /// Saves a record; see ``save(_:returning:)``.
  public func save<Value: Decodable & Sendable>(
    _ record: some Encodable & Sendable, returning type: Value.Type,
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.save(record, returning: type)
    }
  }

  /// Removes the record of an id; see ``remove(id:)``.
  public func remove(
    id: some LosslessStringConvertible & Sendable,
    completion: @escaping @isolated(any) (Result<Void, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in try await self.remove(id: id) }
  }

  /// Removes a record by the id that it has; see ``remove(_:)``.
  public func remove(
    _ record: some Encodable & Sendable,
    completion: @escaping @isolated(any) (Result<Void, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in try await self.remove(record) }
  }

  /// Sends a form with files; see ``upload(_:id:parameters:returning:progress:)``.
  public func upload<Value: Decodable & Sendable>(
    _ form: MultipartForm, id: (some LosslessStringConvertible & Sendable)? = String?.none,
    parameters: [String: String] = [:], returning type: Value.Type,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil,
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    let relay = relay(progress)
    complete(completion) { () async throws(PipeError) in
      try await self.upload(form, id?.description, parameters, type, relay)
    }
  }

  /// Sends content as it is; see ``upload(_:contentType:id:parameters:returning:progress:)``.
  public func upload<Value: Decodable & Sendable>(
    _ content: HTTPRequestBody, contentType: String = MultipartForm.Part.defaultContentType,
    id: (some LosslessStringConvertible & Sendable)? = String?.none,
    parameters: [String: String] = [:], returning type: Value.Type,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil,
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    let relay = relay(progress)
    complete(completion) { () async throws(PipeError) in
      try await self.upload(content, contentType, id?.description, parameters, type, relay)
    }
  }

  /// Brings a record's content into a file; see ``download(id:parameters:to:progress:)``.
  public func download(
    id: (some LosslessStringConvertible & Sendable)? = String?.none,
    parameters: [String: String] = [:], to destination: URL,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil,
    completion: @escaping @isolated(any) (Result<Void, PipeError>) -> Void
  ) {
    let relay = relay(progress)
    complete(completion) { () async throws(PipeError) in
      try await self.download(id?.description, parameters, destination, relay)
    }
  }
}

/// Pages for code without `async`; each completion is called once, on ``Pipeline/callbackQueue``.
extension Pipeline.Pages {
  /// Reads the first page; see ``first()``.
  public func first(
    completion: @escaping @isolated(any) (Result<Pipeline.Page<Value>, PipeError>) -> Void
  ) {
    pipe.complete(completion) { () async throws(PipeError) in try await self.first() }
  }
}

extension Pipeline.Page {
  /// Reads the next page; see ``next()``.
  public func next(
    completion: @escaping @isolated(any) (Result<Pipeline.Page<Value>?, PipeError>) -> Void
  ) {
    pipe.complete(completion) { () async throws(PipeError) in try await self.next() }
  }

  /// Reads the page before; see ``previous()``.
  public func previous(
    completion: @escaping @isolated(any) (Result<Pipeline.Page<Value>?, PipeError>) -> Void
  ) {
    pipe.complete(completion) { () async throws(PipeError) in try await self.previous() }
  }
}
