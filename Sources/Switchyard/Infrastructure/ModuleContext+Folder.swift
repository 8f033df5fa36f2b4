package import Foundation

extension ModuleContext {
    /// Where the folder for one service's state is, or would be.
    package func place(of name: String) -> URL? { stateFolder?.appendingPathComponent(name, isDirectory: true) }

    /// A folder for one service's state, made when it is missing; `nil` when nothing is to outlast the process.
    package func folder(_ name: String) throws(InfrastructureError) -> URL? {
        guard let folder = place(of: name) else { return nil }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw InfrastructureError(
                .localStore, "The state folder “\(folder.path)” cannot be created.", underlying: error)
        }
        return folder
    }
}
