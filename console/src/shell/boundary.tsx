import { Component, type ReactNode } from 'react'
import { Failure } from '../ui/state'

/** Shows a view's error in place of the view, so that the navigation stays usable. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return <Failure error={this.state.error} retry={() => this.setState({ error: undefined })} />
  }
}
