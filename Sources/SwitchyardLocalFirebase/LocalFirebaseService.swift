package import SwitchyardServerKit

/// One of the services that a ``LocalFirebase`` consists of.
package protocol LocalFirebaseService: Sendable {
    /// Adds what it answers. Of two routes that match a request the one added first counts.
    func addRoutes(to router: inout Router)

    /// Ends what it keeps running. The server takes no more requests when this is called.
    func stop() async
}

extension LocalFirebaseService {
    package func stop() async {}
}
