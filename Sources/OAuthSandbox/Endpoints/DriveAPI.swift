/// Functions that begin every drive request: they check the token and find the files' owner.
enum DriveAPI {
  struct Access {
    let owner: DriveState.Owner
    /// The owner's display name.
    let name: String
  }

  /// Checks a request's token, then calls `work` with access to the files of the token's owner.
  ///
  /// Reading requires the scope `demo` or `files`. Changing requires `files`, because the consent
  /// page names the right to change files only for that scope.
  static func answer(
    _ request: SandboxRequest, _ methods: [String], _ sandbox: inout SandboxState,
    work: (Access, inout SandboxState) throws(APIFault) -> Answer
  ) -> Answer {
    do throws(APIFault) {
      let access = try access(request, methods, &sandbox)
      return try work(access, &sandbox)
    } catch {
      return error.answer
    }
  }

  static func access(
    _ request: SandboxRequest, _ methods: [String], _ sandbox: inout SandboxState
  ) throws(APIFault) -> Access {
    guard methods.contains(request.method) else {
      throw APIFault(.methodNotAllowed(methods.joined(separator: ", ")))
    }
    let scopes = request.isGet ? ["demo", "files"] : ["files"]
    let grant = try ProtectedAPI.access(request, anyOf: scopes, &sandbox).grant
    let owner = sandbox.openDrive(of: DriveState.Owner(grant))
    return Access(owner: owner, name: sandbox.name(of: owner))
  }

  /// Answers `/drive/v2/about` with the drive's owner, its size and its used bytes.
  static func about(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    answer(request, ["GET", "HEAD"], &sandbox) { access, sandbox in
      let used = sandbox.drive.bytes(of: access.owner)
      return Answer(
        json: [
          "kind": "drive#about",
          "name": .string(access.name),
          "user": ["kind": "drive#user", "displayName": .string(access.name)],
          "quotaBytesTotal": .string(String(sandbox.options.driveBytes)),
          "quotaBytesUsed": .string(String(used)),
        ])
    }
  }
}

extension SandboxState {
  /// Creates an owner's drive on first use, with sample documents if the options ask for them.
  @discardableResult
  mutating func openDrive(of owner: DriveState.Owner) -> DriveState.Owner {
    drive.open(owner, withDocuments: options.drivesHaveDocuments, at: now)
    return owner
  }

  /// Returns an owner's files, and creates the drive first if necessary.
  mutating func openedFiles(of owner: DriveState.Owner) -> [SandboxFile] {
    openDrive(of: owner)
    return drive.files(of: owner)
  }

  /// Returns the display name of a user or client, or its identifier if it is not registered.
  func name(of owner: DriveState.Owner) -> String {
    switch owner {
    case .user(let name): user(name)?.displayName ?? name
    case .client(let id): client(id)?.name ?? id
    }
  }

  /// Returns the free bytes of a drive, and counts the content of `file` as free.
  func room(of owner: DriveState.Owner, replacing file: SandboxFile? = nil) -> Int {
    // Leaves space for what else a request has, if the drive has no limit.
    let bytes = min(options.driveBytes, 1 << 48)
    return max(0, bytes - drive.bytes(of: owner) + (file?.content.count ?? 0))
  }
}
