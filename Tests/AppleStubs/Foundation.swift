// swift-format-ignore-file
// What Apple's Foundation has and the one for other systems has not, or has in another module.

@_exported import Foundation
@_exported import FoundationNetworking
public import Security

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    public convenience init(trust: SecTrust) { self.init(user: "", password: "", persistence: .none) }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { nil }
}
