package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// ec2Call is one operation of EC2.
type ec2Call[In, Out any] func(context.Context, *In, ...func(*ec2.Options)) (*Out, error)

// ec2Calls are the operations that Plimsoll uses. The client itself is kept in no struct and in no interface: the linker would have to keep
// all of its several hundred operations then, which are 30 MB of program.
type ec2Calls struct {
	describeInstances     ec2Call[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput]
	stopInstances         ec2Call[ec2.StopInstancesInput, ec2.StopInstancesOutput]
	describeVolumes       ec2Call[ec2.DescribeVolumesInput, ec2.DescribeVolumesOutput]
	createVolume          ec2Call[ec2.CreateVolumeInput, ec2.CreateVolumeOutput]
	deleteVolume          ec2Call[ec2.DeleteVolumeInput, ec2.DeleteVolumeOutput]
	attachVolume          ec2Call[ec2.AttachVolumeInput, ec2.AttachVolumeOutput]
	detachVolume          ec2Call[ec2.DetachVolumeInput, ec2.DetachVolumeOutput]
	modifyVolume          ec2Call[ec2.ModifyVolumeInput, ec2.ModifyVolumeOutput]
	describeModifications ec2Call[ec2.DescribeVolumesModificationsInput, ec2.DescribeVolumesModificationsOutput]
	createTags            ec2Call[ec2.CreateTagsInput, ec2.CreateTagsOutput]
	deleteTags            ec2Call[ec2.DeleteTagsInput, ec2.DeleteTagsOutput]
}

func callsOf(c *ec2.Client) ec2Calls {
	return ec2Calls{
		describeInstances: c.DescribeInstances, stopInstances: c.StopInstances,
		describeVolumes: c.DescribeVolumes, createVolume: c.CreateVolume, deleteVolume: c.DeleteVolume,
		attachVolume: c.AttachVolume, detachVolume: c.DetachVolume, modifyVolume: c.ModifyVolume,
		describeModifications: c.DescribeVolumesModifications, createTags: c.CreateTags, deleteTags: c.DeleteTags,
	}
}
