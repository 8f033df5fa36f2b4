import Switchyard

/// A command on the backend of a configuration.
protocol BackendCommand: ToolCommand, Sendable {
    /// As in the table.
    var name: String { get }
    var backend: BackendOptions { get }
    /// The services it uses besides accounts and documents.
    var services: Set<InfrastructureService> { get }
    /// Whether it must send nothing by itself.
    var isOffline: Bool { get }
    /// Whether Ctrl-C is how it ends.
    var endsByInterrupt: Bool { get }

    func run(on backend: OpenBackend) async throws -> ExitStatus
}

/// Why a command ends, in words of its own.
struct CommandFailure: Error {
    let message: String
    let status: ExitStatus
    init(_ message: String, _ status: ExitStatus = .failure) {
        self.message = message
        self.status = status
    }
}

extension BackendCommand {
    var services: Set<InfrastructureService> { [] }
    var isOffline: Bool { false }
    var endsByInterrupt: Bool { false }

    func run() async -> ExitStatus {
        await configured { configuration in
            await BackendRun(command: self) { open in try await run(on: open) }.run(with: configuration)
        }
    }

    /// Runs `work` with the configuration, if it can be read.
    func configured(_ work: (InfrastructureConfiguration) async -> ExitStatus) async -> ExitStatus {
        do throws(InfrastructureError) {
            return await work(try backend.configuration())
        } catch {
            report(error.message)
            return .usage
        }
    }

    func report(_ message: String) { Terminal.error("switchyard \(name): \(message)") }

    /// For results that may be old: says so, beside them.
    func remark(_ metadata: SnapshotMetadata) {
        guard metadata.isFromCache else { return }
        let reason = metadata.serverError.map { ": \($0.message)" } ?? "."
        report("these are from the cache, because the server was not reached\(reason)")
    }
}

/// Opens a backend for some work, and closes it whatever happens.
struct BackendRun: Sendable {
    let command: any BackendCommand
    let work: @Sendable (OpenBackend) async throws -> ExitStatus

    func run(with configuration: InfrastructureConfiguration) async -> ExitStatus {
        let (status, isInterrupted) = await Interruptible.run { await self.status(configuration) }
        guard isInterrupted else { return status }
        return command.endsByInterrupt ? .success : .interrupted
    }

    private func status(_ configuration: InfrastructureConfiguration) async -> ExitStatus {
        let open: OpenBackend
        do throws(InfrastructureError) {
            open = try await OpenBackend(
                configuration, command.backend, services: command.services, isOffline: command.isOffline)
        } catch {
            command.report(error.message)
            return error.code == .invalidConfiguration || error.code == .unknownProvider ? .usage : .failure
        }
        let status = await self.status(of: work, on: open)
        await open.close()
        return status
    }

    private func status(
        of work: (OpenBackend) async throws -> ExitStatus, on open: OpenBackend
    ) async -> ExitStatus {
        do {
            return try await work(open)
        } catch let failure as CommandFailure {
            command.report(failure.message)
            return failure.status
        } catch {
            // Whoever pressed Ctrl-C knows.
            if !Task.isCancelled { command.report((error as? any ClientError)?.message ?? "\(error)") }
            return .failure
        }
    }
}

extension String {
    /// A document's path of an argument.
    func documentPath() throws(UsageError) -> StoragePath {
        do throws(StorageError) { return try StoragePath(validating: self) } catch {
            throw UsageError(error.message)
        }
    }
}
