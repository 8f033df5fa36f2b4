public import Foundation
import SwitchyardBytes

extension ModuleContext {
    /// The folder for one service's state, which may not exist.
    package func place(of name: String) -> URL? { stateFolder?.appendingPathComponent(name, isDirectory: true) }

    /// The folder for one service's state, created if it is missing; `nil` if everything is kept in memory.
    public func folder(_ name: String) throws(InfrastructureError) -> URL? {
        guard let folder = place(of: name) else { return nil }
        do throws(SystemFailure) { try POSIXFile.makeFolder(folder.path) } catch {
            throw InfrastructureError(
                .localStore,
                "The state folder “\(folder.path)” cannot be created: \(error). Let this process write there, or set another "
                    + "stateFolder.", underlying: error)
        }
        return folder
    }
}
