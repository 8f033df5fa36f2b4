public import Foundation
import SwitchyardBytes

extension ModuleContext {
    /// The folder for one service's state, which may not exist.
    package func place(of name: String) -> URL? { place(of: name, (try? localFiles.suffix()) ?? "") }

    private func place(of name: String, _ suffix: String) -> URL? {
        stateFolder?.appendingPathComponent(name + suffix, isDirectory: true)
    }

    /// The folder for one service's state, created if it is missing; `nil` if everything is kept in memory.
    ///
    /// - Parameters:
    ///   - name: Of the folder, within the provider's own.
    ///   - isShared: Whether all processes that ``localFiles`` knows have the same one, which then has to be used as if there were
    ///     several: files that are replaced as a whole, and locks.
    public func folder(_ name: String, isShared: Bool = false) throws(InfrastructureError) -> URL? {
        let suffix = try localFiles.suffix()
        guard let folder = place(of: name, isShared ? "" : suffix) else { return nil }
        do throws(SystemFailure) { try POSIXFile.makeFolder(folder.path) } catch {
            throw InfrastructureError(
                .localStore,
                "The state folder “\(folder.path)” cannot be created: \(error). Let this process write there, or set another "
                    + "stateFolder.", underlying: error)
        }
        localFiles.protect(folder)
        return folder
    }

    /// The file over which the processes that share the state folder tell each other of changes; `nil` if none does.
    package func signalFile() throws(InfrastructureError) -> URL? {
        guard localFiles.process != nil else { return nil }
        return try folder("signals", isShared: true)?.appendingPathComponent("documents", isDirectory: false)
    }

    /// The context of another provider of the same infrastructure, with that one's folder.
    package func beside(_ provider: InfrastructureProvider) -> ModuleContext {
        ModuleContext(
            session: session, clock: clock, now: now,
            stateFolder: stateFolder?.deletingLastPathComponent()
                .appendingPathComponent(provider.rawValue, isDirectory: true),
            observer: observer, program: program, callLimits: callLimits, localFiles: localFiles)
    }
}
