public import SQFoundation
public import SequencingOAuth

/// The operations of a pipe with completion handlers, for code without `async`.
///
/// Each completion runs once: on its actor if it is isolated to one, and otherwise on
/// ``Pipeline/callbackQueue``. The `progress` closure is not called after the completion.
extension Pipeline.Pipe {
  /// Reads the records and calls a completion.
  ///
  /// The completion gets the result of ``read(_:parameters:)``.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type, parameters: [String: String] = [:],
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.read(type, parameters: parameters)
    }
  }

  /// Reads one record and calls a completion.
  ///
  /// The completion gets the result of ``read(_:id:parameters:)``.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type, id: some LosslessStringConvertible & Sendable,
    parameters: [String: String] = [:],
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.read(type, id: id, parameters: parameters)
    }
  }

  /// Reads content without decoding it and calls a completion.
  ///
  /// The completion gets the result of ``content(id:parameters:)``.
  public func content(
    id: (some LosslessStringConvertible & Sendable)? = String?.none,
    parameters: [String: String] = [:],
    completion: @escaping @isolated(any) (Result<Data, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.content(id: id, parameters: parameters)
    }
  }

  /// Saves a record and calls a completion.
  ///
  /// The completion gets the result of ``save(_:returning:)``.
  public func save<Value: Decodable & Sendable>(
    _ record: some Encodable & Sendable, returning type: Value.Type,
    completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in
      try await self.save(record, returning: type)
    }
  }

  /// Removes the record with an id and calls a completion.
  ///
  /// The completion gets the result of ``remove(id:)``.
  public func remove(
    id: some LosslessStringConvertible & Sendable,
    completion: @escaping @isolated(any) (Result<Void, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in try await self.remove(id: id) }
  }

  /// Removes a record by the id it contains, and calls a completion.
  ///
  /// The completion gets the result of ``remove(_:)``.
  public func remove(
    _ record: some Encodable & Sendable,
    completion: @escaping @isolated(any) (Result<Void, PipeError>) -> Void
  ) {
    complete(completion) { () async throws(PipeError) in try await self.remove(record) }
  }

  /// Sends a form with files and calls a completion.
  ///
  /// The completion gets the result of ``upload(_:id:parameters:returning:progress:)``.
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

  /// Sends a file, bytes or a stream without a form around it and calls a completion.
  ///
  /// The completion gets the result of ``upload(_:contentType:id:parameters:returning:progress:)``.
  public func upload<Value: Decodable & Sendable>(
    _ content: WebRequestBody, contentType: String = MultipartForm.Part.defaultContentType,
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

  /// Downloads a record's content to a file and calls a completion.
  ///
  /// The completion gets the result of ``download(id:parameters:to:replacing:progress:)``.
  public func download(
    id: (some LosslessStringConvertible & Sendable)? = String?.none,
    parameters: [String: String] = [:], to destination: URL, replacing: Bool = true,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil,
    completion: @escaping @isolated(any) (Result<Void, PipeError>) -> Void
  ) {
    let relay = relay(progress)
    complete(completion) { () async throws(PipeError) in
      try await self.download(id?.description, parameters, destination, replacing, relay)
    }
  }
}

/// The methods that read pages with completion handlers, for code without `async`.
///
/// Each completion runs once: on its actor if it is isolated to one, and otherwise on
/// ``Pipeline/callbackQueue``.
extension Pipeline.Pages {
  /// Reads the first page and calls a completion.
  ///
  /// The completion gets the result of ``first()``.
  public func first(
    completion: @escaping @isolated(any) (Result<Pipeline.Page<Value>, PipeError>) -> Void
  ) {
    pipe.complete(completion) { () async throws(PipeError) in try await self.first() }
  }
}

extension Pipeline.Page {
  /// Reads the next page and calls a completion.
  ///
  /// The completion gets the result of ``next()``.
  public func next(
    completion: @escaping @isolated(any) (Result<Pipeline.Page<Value>?, PipeError>) -> Void
  ) {
    pipe.complete(completion) { () async throws(PipeError) in try await self.next() }
  }

  /// Reads the previous page and calls a completion.
  ///
  /// The completion gets the result of ``previous()``.
  public func previous(
    completion: @escaping @isolated(any) (Result<Pipeline.Page<Value>?, PipeError>) -> Void
  ) {
    pipe.complete(completion) { () async throws(PipeError) in try await self.previous() }
  }
}
