// What an app or a server does with the printed file.
import Metrics
import Switchyard

func options() -> InfrastructureOptions { InfrastructureOptions(observer: MetricsObserver()) }
