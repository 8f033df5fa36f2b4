@testable import Switchyard

extension Switchboard {
    @discardableResult
    func connect(_ client: Client, _ policy: CallPolicy? = nil) -> Int {
        connect(.connection(Connection(client: client, policy: policy)))
    }
}
