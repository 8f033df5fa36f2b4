package import Switchyard
package import SwitchyardWire

/// How the auth client of one vendor is made, in whatever process: all that checks of shared sessions know of a vendor.
package protocol SessionVendor: Codable, Sendable {
    /// What the address of a refresh has in it, and no other request's.
    static var refreshMark: String { get }

    func client(_ context: ModuleContext, over transport: any Transport) throws -> any AuthClient
}
