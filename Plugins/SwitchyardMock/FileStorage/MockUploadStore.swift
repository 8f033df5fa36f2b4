import Switchyard
import SwitchyardProviderKit

/// Where a device keeps what it must know to go on with interrupted uploads: in memory, or in a folder.
public final class MockUploadStore: Sendable {
    let records: UploadRecords

    /// In memory: outlasts clients, not the process.
    public convenience init() { self.init(UploadRecords()) }

    init(_ records: UploadRecords) { self.records = records }
}
