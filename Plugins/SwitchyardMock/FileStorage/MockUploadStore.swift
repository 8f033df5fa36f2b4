import Switchyard
import SwitchyardProviderKit

/// A device's records for resuming interrupted uploads: in memory, or in a folder.
public final class MockUploadStore: Sendable {
    let records: UploadRecords

    /// Creates a store in memory, which outlives clients but not the process.
    public convenience init() { self.init(UploadRecords()) }

    init(_ records: UploadRecords) { self.records = records }
}
